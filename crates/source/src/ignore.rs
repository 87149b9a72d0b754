//! `.terraformignore`, by terraform's rules, which are not git's.
//!
//! As the Terraform CLI reads it when it packs a configuration for upload: a pattern without a leading `/` is tried at
//! every depth, also when it has a `/` in its middle; only `name/` covers what is in a directory (`name` is the entry
//! alone, and a directory whose content is taken exists); the last pattern that matches decides; and `!` can bring
//! back a file out of a directory that is left out.

use std::io::Read;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use crate::error::Error;
use crate::selection::Verdict;

/// The name of the file; it counts at the root of the source alone.
pub(crate) const FILE_NAME: &str = ".terraformignore";

/// No such file has to be larger, in bytes.
const MAX_SIZE: u64 = 1024 * 1024;

/// The rules of one file, in its order.
#[derive(Debug, Default)]
pub(crate) struct IgnoreRules(Vec<Rule>);

#[derive(Debug)]
struct Rule {
    pattern: GlobMatcher,
    brings_back: bool,
}

/// The rules of a file that is open.
pub(crate) fn read(file: impl Read) -> Result<IgnoreRules, Error> {
    let unreadable = |cause| Error::Unreadable {
        path: FILE_NAME.into(),
        cause,
        advice: "write one pattern a line, in UTF-8, and no more than 1 MiB of them",
    };
    let mut text = String::new();
    file.take(MAX_SIZE + 1).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() as u64 > MAX_SIZE {
        return Err(unreadable(std::io::Error::other("it is too large")));
    }
    IgnoreRules::parse(&text)
}

/// For one that is a symbolic link: what it leads to is not known before the source is taken.
pub(crate) fn must_be_a_file(target: &Path) -> Error {
    Error::LinkNotFollowed {
        path: PathBuf::from(FILE_NAME),
        target: target.to_owned(),
        advice: "put the file itself in its place",
    }
}

impl IgnoreRules {
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let rules = text.lines().enumerate().filter_map(|(index, line)| {
            let pattern = line.trim();
            if pattern.is_empty() || pattern.starts_with('#') {
                return None;
            }
            Some(Rule::parse(pattern).map_err(|reason| Error::Ignore {
                line: index + 1,
                pattern: pattern.to_owned(),
                reason,
            }))
        });
        rules.collect::<Result<_, _>>().map(Self)
    }

    /// What becomes of `path`, which is relative to where the file lies.
    pub(crate) fn verdict(&self, path: &Path, directory: bool) -> Verdict {
        if directory {
            let mut content = path.as_os_str().to_owned();
            content.push("/");
            match self.last_match(Path::new(&content)) {
                Some((index, rule)) if !rule.brings_back => {
                    let later_exception = self.0[index..].iter().any(|rule| rule.brings_back);
                    return if later_exception { Verdict::LeaveButDescend } else { Verdict::Leave };
                }
                _ => {}
            }
        }
        match self.last_match(path) {
            Some((_, rule)) if !rule.brings_back && directory => Verdict::LeaveButDescend,
            Some((_, rule)) if !rule.brings_back => Verdict::Leave,
            _ => Verdict::Take,
        }
    }

    fn last_match(&self, path: &Path) -> Option<(usize, &Rule)> {
        self.0.iter().enumerate().rev().find(|(_, rule)| rule.pattern.is_match(path))
    }
}

impl Rule {
    fn parse(text: &str) -> Result<Self, String> {
        let (brings_back, text) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
        let anchored = text.strip_prefix('/');
        let text = anchored.unwrap_or(text);
        if text.is_empty() {
            return Err("it names nothing".to_owned());
        }
        // braces mean themselves
        let text = text.replace('{', "[{]").replace('}', "[}]");
        let anywhere = if anchored.is_some() { "" } else { "**/" };
        let content = if text.ends_with('/') { "**" } else { "" };
        let pattern = GlobBuilder::new(&format!("{anywhere}{text}{content}"))
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map_err(|error| error.kind().to_string())?
            .compile_matcher();
        Ok(Self { pattern, brings_back })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(rules: &str, path: &str) -> bool {
        let rules = IgnoreRules::parse(rules).unwrap();
        // as a walk would: a directory that is left out with all that is in it is not entered
        let path = Path::new(path);
        let entered = path
            .ancestors()
            .skip(1)
            .filter(|ancestor| !ancestor.as_os_str().is_empty())
            .all(|ancestor| rules.verdict(ancestor, true) != Verdict::Leave);
        entered && rules.verdict(path, false) == Verdict::Take
    }

    #[test]
    fn patterns_mean_what_they_mean_to_terraform() {
        let table = [
            ("", "a", true),
            ("# a\n\n  \n", "a", true),
            ("*.log", "a.log", false),
            ("*.log", "d/e/a.log", false),
            ("*.log", "a.log.tf", true),
            ("  *.log  ", "a.log", false),
            ("/*.log", "a.log", false),
            ("/*.log", "d/a.log", true),
            ("build/", "build/x", false),
            ("build/", "d/build/e/x", false),
            ("build/", "build", true),
            ("/build/", "d/build/x", true),
            // not git's rules: the entry alone
            ("build", "build/x", true),
            ("build", "build", false),
            // not git's rules: a slash in the middle does not anchor
            ("d/build/", "e/d/build/x", false),
            ("d/*.txt", "d/a.txt", false),
            ("d/*.txt", "d/e/a.txt", true),
            ("d/**/a.txt", "d/e/f/a.txt", false),
            ("d/**/a.txt", "d/a.txt", false),
            ("a?c", "abc", false),
            ("a?c", "a/c", true),
            ("[ab].tf", "b.tf", false),
            ("\\*.tf", "a.tf", true),
            ("\\*.tf", "*.tf", false),
            ("{a,b}", "a", true),
            ("{a,b}", "{a,b}", false),
            // the last one decides, also against the rules of git
            ("*.tf\n!keep.tf", "keep.tf", true),
            ("!keep.tf\n*.tf", "keep.tf", false),
            ("build/\n!build/keep/", "build/keep/x", true),
            ("build/\n!build/keep/", "build/x", false),
            ("build/\n!keep.txt", "build/e/keep.txt", true),
        ];
        for (rules, path, expected) in table {
            assert_eq!(taken(rules, path), expected, "{path} by {rules:?}");
        }
    }

    #[test]
    fn a_line_that_is_no_pattern_is_refused_with_its_place() {
        for (rules, line) in [("a\n[b", 2), ("!", 1), ("\n\n/", 3)] {
            match IgnoreRules::parse(rules) {
                Err(Error::Ignore { line: found, .. }) => assert_eq!(found, line),
                other => panic!("{rules:?}: {other:?}"),
            }
        }
    }
}
