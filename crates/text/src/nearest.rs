/// Longer names are not compared: the distance takes the product of both lengths.
const LONGEST: usize = 100;
/// How many names one is compared with.
const MOST: usize = 5_000;

/// The known name that was probably meant: in another case, with as few slips as its length allows, or cut short.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    if name.len() > LONGEST {
        return None;
    }
    let lower = name.to_lowercase();
    let characters = name.chars().count();
    let most = (characters.max(3) / 3).min(4);
    let slips = |known: &str| {
        // a character has four bytes at most
        if known.len().abs_diff(name.len()) > 4 * most {
            return None;
        }
        let slips = strsim::osa_distance(&lower, &known.to_lowercase());
        // of a short name, what is left would be nothing
        (slips <= most && slips < characters).then_some(slips)
    };
    let likeness = |known: &'n str| {
        let is_cut = || (characters >= 3 && known.starts_with(name)).then_some(usize::MAX);
        Some((slips(known).or_else(is_cut)?, known))
    };
    let others = known.into_iter().take(MOST).filter(|known| *known != name && known.len() <= LONGEST);
    Some(others.filter_map(likeness).min()?.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_forgiven_by_the_length_of_the_name() {
        let known = ["listen", "data_dir", "terraform", "data.network.deny", "a", "größe"];
        let table = [
            ("lisen", Some("listen")),
            ("Listen", Some("listen")),
            ("teraform", Some("terraform")),
            ("datadir", Some("data_dir")),
            ("data.netwrok.denny", Some("data.network.deny")),
            ("grosse", None),
            ("größte", Some("größe")),
            ("terra", Some("terraform")),
            ("data.network", Some("data.network.deny")),
            ("te", None),
            ("x", None),
            ("A", Some("a")),
            ("retention", None),
            ("listen", None),
            ("", None),
        ];
        for (name, expected) in table {
            assert_eq!(nearest(name, known), expected, "{name}");
        }
    }

    #[test]
    fn of_two_that_are_as_near_the_first_in_the_alphabet_is_meant() {
        assert_eq!(nearest("tests", ["tesls", "tesks"]), Some("tesks"));
    }

    #[test]
    fn a_name_without_end_is_compared_with_nothing() {
        let long = "x".repeat(1_000_000);
        assert_eq!(nearest(&long, [long[1..].as_ref()]), None);
        assert_eq!(nearest("xxxx", [long.as_str()]), None);
    }
}
