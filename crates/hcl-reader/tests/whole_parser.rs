//! A parser of the whole language finds the same in a text, as far as both read it.

use hcl_edit::expr::{Expression as Whole, ObjectKey};
use hcl_edit::parser::parse_body;
use hcl_edit::structure::Body as WholeBody;
use hcl_reader::{Body, Computed, Expression, Kind, What, cut_blocks, parse};
use proptest::prelude::*;

const LIMIT: usize = 1 << 20;

/// Expressions that nest in each other in every way that has brackets or quotes.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("1".to_owned()),
        Just("-0.5e3".to_owned()),
        Just("a.b".to_owned()),
        Just("null".to_owned()),
        Just("true".to_owned()),
        "[a-z {}#/$%<-]{0,6}"
            .prop_map(|text| { format!("\"{}\"", text.replace("${", "$${").replace("%{", "%%{")) }),
    ];
    leaf.prop_recursive(5, 24, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| format!("\"x${{{inner}}}}}\"")),
            inner.clone().prop_map(|inner| format!("[{inner}, # ]\n {inner}]")),
            inner.clone().prop_map(|inner| format!("{{ a = {inner}, \"b\" : {inner}, (c) = {inner} }}")),
            inner.clone().prop_map(|inner| format!("f({inner}, {inner})")),
            inner.clone().prop_map(|inner| format!("/* }} */ ({inner})")),
            inner.clone().prop_map(|inner| format!("!{inner}")),
            inner.clone().prop_map(|inner| format!("[{inner}][0]")),
            (inner.clone(), inner.clone()).prop_map(|(one, two)| format!("({one}) == {two}")),
            (inner.clone(), inner.clone()).prop_map(|(one, two)| format!("true ? {one} : {two}")),
            inner.clone().prop_map(|inner| format!("[for k, v in {inner} : v if true]")),
            inner.prop_map(|inner| format!("{{ for k, v in {inner} : k => v }}")),
        ]
    })
}

fn structure() -> impl Strategy<Value = String> {
    prop_oneof![
        expression().prop_map(|expression| format!("x = {expression}\n")),
        expression()
            .prop_map(|expression| format!("locals {{\n  x = {expression}\n  terraform {{\n  }}\n}}\n")),
        expression().prop_map(|expression| format!("terraform {{\n  y = {expression}\n}}\n")),
        expression()
            .prop_map(|expression| format!("a \"b${{}}\" {{ y = {expression} }}\n").replace("${}", "")),
        "[a-z{}\" ]{0,8}".prop_map(|text| format!("x = <<EOT\n {text}\nEOT\n")),
        // blank lines are another matter: the other parser cuts them, and terraform does not
        "[a-z{}\" ]{0,8}".prop_map(|text| format!("x = <<-EOT\n    x{text}\n  $${{y\n  EOT\n")),
        "[a-z{}\" ]{0,8}".prop_map(|text| format!("# {text}\n")),
        Just("a b \"c\" {}\n".to_owned()),
        Just("\n".to_owned()),
    ]
}

/// Some structures, of which no two have attributes of one name.
fn file() -> impl Strategy<Value = String> {
    prop::collection::vec(structure(), 0..6).prop_map(|structures| {
        let numbered = structures.iter().enumerate().map(|(number, text)| match text.strip_prefix("x = ") {
            Some(rest) => format!("x{number} = {rest}"),
            None => text.clone(),
        });
        numbered.collect()
    })
}

fn same_body(ours: &Body<'_>, whole: &WholeBody) -> bool {
    let attributes: Vec<_> = whole.attributes().collect();
    let blocks: Vec<_> = whole.blocks().collect();
    ours.attributes.len() == attributes.len()
        && ours.blocks.len() == blocks.len()
        && ours
            .attributes
            .iter()
            .zip(attributes)
            .all(|(ours, whole)| ours.name.as_str() == whole.key.as_str() && same(&ours.value, &whole.value))
        && ours.blocks.iter().zip(blocks).all(|(ours, whole)| {
            ours.kind.as_str() == whole.ident.as_str()
                && ours
                    .labels
                    .iter()
                    .map(|label| label.as_str())
                    .eq(whole.labels.iter().map(|label| label.as_str()))
                && same_body(&ours.body, &whole.body)
        })
}

fn same(ours: &Expression<'_>, whole: &Whole) -> bool {
    match (&ours.kind, whole) {
        (_, Whole::Parenthesis(inner)) => same(ours, inner.inner()),
        (Kind::Null, Whole::Null(_)) | (Kind::Variable(_), Whole::Variable(_) | Whole::Traversal(_)) => true,
        (Kind::Bool(ours), Whole::Bool(whole)) => ours == whole.value(),
        (Kind::Number(ours), Whole::Number(whole)) => {
            ours.exact().and_then(|number| number.as_f64()) == whole.value().as_f64()
        }
        (Kind::String(ours), Whole::String(whole)) => ours.as_ref() == whole.value().as_str(),
        (Kind::String(ours), Whole::HeredocTemplate(whole)) => {
            *ours
                == whole
                    .template
                    .iter()
                    .filter_map(|part| part.as_literal())
                    .map(|text| text.as_str())
                    .collect::<String>()
        }
        // a template without an interpolation is a string to one and none to the other
        (Kind::String(_), Whole::StringTemplate(_)) => true,
        (Kind::Template(_), Whole::StringTemplate(_)) => true,
        (Kind::List(ours), Whole::Array(whole)) => {
            ours.len() == whole.len() && ours.iter().zip(whole).all(|(ours, whole)| same(ours, whole))
        }
        (Kind::Map(ours), Whole::Object(whole)) => {
            ours.len() == whole.len()
                && ours.iter().zip(whole).all(|(ours, (key, value))| {
                    let same_key = match key {
                        ObjectKey::Ident(name) => ours.key.kind == Kind::String(name.as_str().into()),
                        ObjectKey::Expression(key) => same(&ours.key, key),
                    };
                    same_key && same(&ours.value, value.expr())
                })
        }
        (Kind::Call(ours), Whole::FuncCall(whole)) => {
            ours.arguments.len() == whole.args.len()
                && ours.arguments.iter().zip(whole.args.iter()).all(|(ours, whole)| same(ours, whole))
        }
        (Kind::Computed(Computed { what, .. }), whole) => matches!(
            (what, whole),
            (What::Operator, Whole::UnaryOp(_) | Whole::BinaryOp(_) | Whole::Conditional(_))
                | (What::Access, Whole::Traversal(_) | Whole::BinaryOp(_) | Whole::Conditional(_))
                | (What::Conditional, Whole::Conditional(_))
                | (What::For, Whole::ForExpr(_) | Whole::BinaryOp(_) | Whole::Traversal(_))
        ),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_tree_is_that_of_a_parser_of_the_whole_language(text in file()) {
        let whole = parse_body(&text);
        prop_assert!(whole.is_ok(), "the text is HCL: {text}");
        let ours = parse(&text, LIMIT);
        prop_assert!(ours.is_ok(), "{:?}", ours);
        prop_assert!(same_body(&ours.clone().unwrap().body, &whole.unwrap()), "{:#?}", ours);
    }

    #[test]
    fn the_blocks_that_are_cut_out_are_those_of_a_parser_of_the_whole_file(text in file()) {
        let whole = parse_body(&text).unwrap();
        let expected: Vec<String> =
            whole.get_blocks("terraform").map(|block| block.body.to_string()).collect();
        let found: Vec<String> = cut_blocks(&text, "terraform")
            .into_iter()
            .map(|block| parse_body(block.text).unwrap().get_blocks("terraform").next().unwrap().body.to_string())
            .collect();
        prop_assert_eq!(found, expected);
    }
}
