//! Blocks and attributes, their places, and what has no place among them.

use hcl_reader::{Body, DuplicateOf, Kind, MAX_DEPTH, Part, cut_blocks, parse};

const LIMIT: usize = 1 << 20;

fn body(text: &str) -> Body<'_> {
    parse(text, LIMIT).unwrap_or_else(|broken| panic!("{text}: {broken}")).body
}

/// Line, column and words of the refusal.
fn refusal(text: &str) -> String {
    match parse(text, LIMIT) {
        Ok(document) => panic!("{text} is taken as {document:?}"),
        Err(broken) => {
            let place = broken.error.position(text);
            format!("{}:{} {}", place.line, place.column, broken.error)
        }
    }
}

#[test]
fn blocks_have_labels_attributes_and_blocks() {
    let text = "a = 1\nb \"c\" d \"e\\\"f\" {\n  g = 2\n\n  h { # one\n  }\n  i { j = 3 } // two\n}\nk {}\n";
    let file = body(text);
    assert_eq!(file.attributes.len(), 1);
    let [b, k] = &file.blocks[..] else { panic!("{file:?}") };
    assert_eq!((b.kind.as_str(), &text[b.header()]), ("b", "b \"c\" d \"e\\\"f\""));
    let labels: Vec<_> = b.labels.iter().map(|label| (label.as_str(), &text[label.span.clone()])).collect();
    assert_eq!(labels, [("c", "\"c\""), ("d", "d"), ("e\"f", "\"e\\\"f\"")]);
    let g = b.body.attribute("g").unwrap();
    assert_eq!((&text[g.name.span.clone()], &text[g.value.span.clone()]), ("g", "2"));
    assert!(b.body.blocks[0].body.attributes.is_empty());
    assert_eq!(b.body.blocks[1].body.attribute("j").unwrap().value.to_json().unwrap(), 3);
    assert_eq!((k.kind.as_str(), &text[k.header()], &k.body), ("k", "k", &Body::default()));
    for text in ["", "\n", "# nothing", "/* nothing */", "\u{feff}", "\r\n\t"] {
        assert_eq!(body(text), Body::default(), "{text:?}");
    }
}

#[test]
fn the_end_of_a_line_ends_an_attribute_unless_it_is_in_brackets() {
    let file = body(
        "a = [1,\n  2\n]\nb = (\n 3\n)\nc = <<E\nx\nE\nd = \"${\n4\n}\" /*\n*/\ne = f(\n5,\n)\r\ng = x -\ni = 1\n",
    );
    let names: Vec<_> = file.attributes.iter().map(|attribute| attribute.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c", "d", "e", "g", "i"]);
}

#[test]
fn a_template_has_its_texts_and_its_expressions() {
    let text = "a = \"x$${y}${env(\"A\")}-${ \"b\" }\"\nb = <<-E\n    x ${f()}\n      y\n    E\nc = \"${~ 1 }%{ if true }}%{ endif }\"\n";
    let file = body(text);
    let parts = |name| match &file.attribute(name).unwrap().value.kind {
        Kind::Template(parts) => parts.clone(),
        other => panic!("{other:?}"),
    };
    let shown = |name| -> Vec<String> {
        let show = |part| match part {
            Part::Text(text) => text.into_owned(),
            Part::Value(value) => format!("<{} {}>", value.kind.name(), &text[value.span]),
        };
        parts(name).into_iter().map(show).collect()
    };
    assert_eq!(shown("a"), ["x${y}", "<a function env(\"A\")>", "-", "<a string \"b\">"]);
    assert_eq!(shown("b"), ["x ", "<a function f()>", "\n  y\n"]);
    assert_eq!(
        shown("c"),
        ["<an expression ${~ 1 }>", "<an expression %{ if true }>", "}", "<an expression %{ endif }>"]
    );
}

#[test]
fn what_stands_there_twice_is_kept_and_told() {
    let text = "a = 1\nb = { c = 1, \"c\" = 2, c = 3 }\na = { 1 = 1, \"1\" = 2 }\nd {\n  a = 1\n}\n";
    let document = parse(text, LIMIT).unwrap();
    let found: Vec<_> = document
        .duplicates
        .iter()
        .map(|twice| (&*twice.name, twice.of, &text[..twice.first.start], &text[twice.again.clone()]))
        .map(|(name, of, before, again)| (name, of, before.len(), again))
        .collect();
    assert_eq!(
        found,
        [
            ("c", DuplicateOf::Key, 12, "\"c\""),
            ("c", DuplicateOf::Key, 12, "c"),
            ("a", DuplicateOf::Attribute, 0, "a"),
            ("1", DuplicateOf::Key, 42, "\"1\""),
        ]
    );
    let marks: Vec<_> = document.body.attributes.iter().map(|attribute| attribute.repeated).collect();
    assert_eq!(marks, [false, false, true]);
}

#[test]
fn what_is_not_hcl_ends_the_reading_and_keeps_what_stood_there_twice_before() {
    let broken = parse("a = 1\na = 2\nb {\n  c = { d = 1, d = 2\n", LIMIT).unwrap_err();
    assert_eq!(broken.error.span, 22..23);
    let names: Vec<_> = broken.duplicates.iter().map(|twice| &*twice.name).collect();
    assert_eq!(names, ["a", "d"]);
}

#[test]
fn what_is_not_hcl_is_refused_with_what_would_be_right() {
    const STRUCTURE: &str =
        "an attribute is `name = value`, a block `name \"label\" { … }`, each on lines of its own";
    const BRACKETS: &str = "is every `{`, `[` and `(` closed?";
    for (text, expected) in [
        ("{\"a\": 1}", format!("1:1 expected an attribute or a block, found `{{`; {STRUCTURE}")),
        ("}", format!("1:1 expected an attribute or a block, found `}}`; {STRUCTURE}")),
        ("a\n", format!("1:2 expected `=`, or the label or body of a block, found the end of the line; {STRUCTURE}")),
        ("a \"b\" = 1", "1:7 expected a label or `{`, found `=`; the name of a block is plain text in double quotes".into()),
        ("a \"${b}\" {}", "1:3 expected a label or `{`, found a template; the name of a block is plain text in double quotes".into()),
        ("a = 1 b = 2", "1:7 expected the end of the line, found a name; nothing stands between two attributes but the end of the line".into()),
        ("a = 1,\n", "1:6 expected the end of the line, found `,`; nothing stands between two attributes but the end of the line".into()),
        ("a {} b {}", "1:6 expected the end of the line, found a name; nothing stands between two attributes but the end of the line".into()),
        ("a {\n  b = 1 }", "2:9 expected the end of the line, found `}`; nothing stands between two attributes but the end of the line".into()),
        ("a { b = 1 c = 2 }", "1:11 a block on one line holds one attribute at most; give each attribute a line of its own".into()),
        ("a { b = 1\n}", "1:10 a block on one line holds one attribute at most; give each attribute a line of its own".into()),
        ("a { b {} }", "1:5 a block on one line holds one attribute at most; give each attribute a line of its own".into()),
        ("a {\n  b = [1\n}\n", format!("3:1 expected `,` or the closing bracket, found `}}`; `,` stands between two items; {BRACKETS}")),
        ("a {\n  b = 1\n", format!("1:3 this `{{` is not closed; {BRACKETS}")),
        ("a {", format!("1:3 this `{{` is not closed; {BRACKETS}")),
        ("a { b = 1", format!("1:3 this `{{` is not closed; {BRACKETS}")),
        ("a = 1 + (2\n", format!("1:9 this `(` is not closed; {BRACKETS}")),
    ] {
        assert_eq!(refusal(text), expected, "{text}");
    }
}

#[test]
fn blocks_are_as_deep_as_the_limit() {
    let nested = |depth| ["a {\n".repeat(depth), "}\n".repeat(depth)].concat();
    assert_eq!(body(&nested(MAX_DEPTH)).blocks.len(), 1);
    assert_eq!(
        refusal(&nested(MAX_DEPTH + 1)),
        format!("{}:3 nested more than 100 deep; write it with fewer levels", MAX_DEPTH + 1)
    );
    assert!(refusal(&nested(100_000)).contains("nested more than 100 deep"));
}

#[test]
fn blocks_are_cut_out_of_whatever_is_around_them() {
    let cut = |text: &str| -> Vec<(String, usize)> {
        cut_blocks(text, "t").into_iter().map(|block| (block.text.to_owned(), block.start)).collect()
    };
    let block = "t {\n  a = \"}\" # }\n  b { c = <<E\n}\nE\n  }\n}";
    for before in [
        "",
        "\u{feff}",
        "# t {\n",
        "/* t { */ ",
        "x = \"open\n",
        "x = = ~ ' 1\n",
        "x = ((([\n}\n",
        "x {\n  t {\n  }\n}\n",
        "x = t {\n}\n",
        "t = {\n}\n",
        "t \"label\" {\n}\n",
        "t\n{\n}\n",
        "tt {\n}\n",
        "x = <<E\nt {\nE\n",
        "x = \"${ {a = \"}\"} }\"\n",
        ")\n",
        "}\n",
    ] {
        assert_eq!(cut(&format!("{before}{block}\n")), [(block.to_owned(), before.len())], "{before}");
    }
    assert_eq!(cut("t {}\nt {}"), [("t {}".to_owned(), 0), ("t {}".to_owned(), 5)]);
    assert_eq!(
        cut("t {\n x = 1 }}\nt /* c */ {"),
        [("t {\n x = 1 }".to_owned(), 0), ("t /* c */ {".to_owned(), 14)]
    );
}
