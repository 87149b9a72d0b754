//! How much of what a policy says is kept. A report is stored, sent and read; a policy may print for ten seconds.

use ::sentinel::{Data, Key, RuleTrace};

/// Lines of one kind (messages, prints) of one policy.
const MAX_LINES: usize = 1_000;
/// Bytes of these lines together, and of the values in one policy's trace together.
const MAX_BYTES: usize = 256 * 1024;

/// The first lines, with a word on how many are left out.
pub(crate) fn lines(lines: Vec<String>) -> Vec<String> {
    let mut left = MAX_BYTES;
    let all = lines.len();
    let mut kept = Vec::new();
    for line in lines {
        if kept.len() == MAX_LINES || left == 0 {
            break;
        }
        kept.push(text(line, &mut left));
    }
    if kept.len() < all {
        kept.push(more(all - kept.len()));
    }
    kept
}

/// The first rules of a trace with their values, as far as these are not too large.
pub(crate) fn rules(mut rules: Vec<RuleTrace>) -> Vec<RuleTrace> {
    // the one that decides is the one that ends last
    let main = rules.iter().rposition(|rule| rule.ident == "main").map(|at| rules.remove(at));
    rules.truncate(MAX_LINES);
    let mut left = MAX_BYTES;
    let mut kept: Vec<RuleTrace> = Vec::with_capacity(rules.len() + 1);
    for rule in main.into_iter().chain(rules) {
        kept.push(RuleTrace { value: data(&rule.value, &mut left), ..rule });
    }
    kept
}

/// A text, or its start.
fn text(mut text: String, left: &mut usize) -> String {
    match left.checked_sub(text.len()) {
        Some(rest) => *left = rest,
        None => {
            let cut = text.floor_char_boundary(*left);
            let gone = text.len() - cut;
            text.truncate(cut);
            text.push_str(&format!("… ({gone} more bytes)"));
            *left = 0;
        }
    }
    text
}

/// Data without what is too much of it.
fn data(value: &Data, left: &mut usize) -> Data {
    const EACH: usize = 8;
    *left = left.saturating_sub(EACH);
    match value {
        Data::Str(string) => text(string.to_text().into_owned(), left).into(),
        Data::List(items) => {
            let mut kept = Vec::new();
            for item in items.iter() {
                if *left == 0 {
                    kept.push(more(items.len() - kept.len()).into());
                    break;
                }
                kept.push(data(item, left));
            }
            Data::list(kept)
        }
        Data::Map(map) => {
            let mut kept: Vec<(Key, Data)> = Vec::new();
            for (key, item) in map.entries() {
                if *left == 0 {
                    kept.push((Key::from("…"), more(map.len() - kept.len()).into()));
                    break;
                }
                *left = left.saturating_sub(key.as_str().map_or(EACH, str::len));
                kept.push((key.clone(), data(item, left)));
            }
            Data::map(kept)
        }
        other => other.clone(),
    }
}

fn more(count: usize) -> String {
    format!("… and {count} more")
}

#[cfg(test)]
mod tests {
    use ::sentinel::Position;

    use super::*;

    fn rule(ident: &str, value: Data) -> RuleTrace {
        let position = Position { filename: "p.sentinel".into(), offset: 0, line: 1, column: 1 };
        RuleTrace { ident: ident.into(), description: String::new(), position, value }
    }

    #[test]
    fn what_is_of_a_usual_size_is_kept_as_it_is() {
        let said = vec!["a".to_owned(), "b".repeat(10_000)];
        assert_eq!(lines(said.clone()), said);
        let value = Data::map([("a", Data::list([Data::Int(1), "x".into(), Data::Null]))]);
        assert_eq!(rules(vec![rule("main", value.clone())])[0].value, value);
    }

    #[test]
    fn of_many_lines_the_first_are_kept_and_the_others_counted() {
        let kept = lines((0..1_005).map(|n| n.to_string()).collect());
        assert_eq!(kept.len(), 1_001);
        assert_eq!(kept.last().unwrap(), "… and 5 more");
    }

    #[test]
    fn a_line_without_end_has_one() {
        let kept = lines(vec!["é".repeat(MAX_BYTES), "after it".into()]);
        assert!(kept[0].len() < MAX_BYTES + 100);
        assert_eq!(kept[0].chars().last(), Some(')'));
        assert_eq!(kept[1..], ["… and 1 more"]);
    }

    #[test]
    fn large_values_are_cut_wherever_they_are_large_and_main_comes_first() {
        let wide = Data::list((0..100_000).map(Data::Int));
        let deep = Data::map([("list", wide.clone()), ("text", "x".repeat(10_000_000).as_str().into())]);
        let kept = rules(vec![rule("a", wide), rule("b", deep), rule("main", Data::Bool(false))]);
        assert_eq!(kept[0].ident, "main");
        assert_eq!(kept[0].value, Data::Bool(false));
        let json = serde_json::to_string(&kept).unwrap();
        assert!(json.len() < 2 * MAX_BYTES, "{}", json.len());
        assert!(json.contains("more\""));
    }
}
