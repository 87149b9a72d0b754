//! What is written about the code is about the code that is there: files, functions and headings that a page or a comment
//! names exist.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders whose files are named by their path from the root.
const FOLDERS: [&str; 5] = ["config/", "crates/", "docs/", "tests/", "tools/"];

/// A text with its path from the root.
struct Page {
    path: String,
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every file below a folder with one of these endings, in order.
fn files(folder: &str, endings: &[&str]) -> Vec<Page> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" {
                folders.push(path);
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(page(&path));
            }
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

fn page(path: &Path) -> Page {
    let shown = path.strip_prefix(root()).unwrap().display().to_string();
    Page { path: shown, text: fs::read_to_string(path).unwrap() }
}

/// All that is written for people.
fn pages() -> Vec<Page> {
    let mut pages = files("docs", &[".md"]);
    pages.extend(["README.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(|name| page(&root().join(name))));
    pages
}

/// The text outside of code blocks, its lines joined.
fn prose(text: &str) -> String {
    let mut code = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            code = !code;
        } else if !code {
            lines.push(line.trim());
        }
    }
    lines.join(" ")
}

/// The parts of a text between two marks, each with what stands before it.
fn between<'t>(text: &'t str, begin: &str, end: &str) -> Vec<(&'t str, &'t str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(begin).map(|start| at + start + begin.len()) {
        let Some(length) = text[start..].find(end) else { break };
        found.push((&text[at..start - begin.len()], &text[start..start + length]));
        at = start + length + end.len();
    }
    found
}

/// The path in a piece of code, if it is one from the root.
fn path_in(code: &str) -> Option<&str> {
    let path = code.split_whitespace().next()?;
    let is_path = FOLDERS.iter().any(|folder| path.starts_with(folder));
    (is_path && !path.contains(['*', '<', '{', '…'])).then(|| path.trim_end_matches([',', '.', ':']))
}

/// The headings of a page, without their numbers.
fn headings(text: &str) -> BTreeSet<&str> {
    text.lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| line.trim_start_matches('#').trim())
        .map(|line| line.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim())
        .collect()
}

/// Fails with all that is wrong, if anything is. `checked`: how much was looked at, which is never nothing.
fn all_right(checked: usize, wrong: &[String]) {
    assert!(checked > 0, "nothing was found to check: the form in which it is written has changed");
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn links_lead_to_files_that_exist() {
    let (mut links, mut wrong) = (0, Vec::new());
    for Page { path, text } in pages() {
        let folder = root().join(&path).parent().unwrap().to_owned();
        for (_, target) in between(&prose(&text), "](", ")") {
            let file = target.split('#').next().unwrap();
            if file.is_empty() || file.contains("://") {
                continue;
            }
            links += 1;
            if !folder.join(file).exists() {
                wrong.push(format!("{path} links to {target}, which does not exist"));
            }
        }
    }
    all_right(links, &wrong);
}

#[test]
fn files_that_are_named_exist() {
    let (mut named, mut wrong) = (0, Vec::new());
    for Page { path, text } in pages() {
        for (_, code) in between(&prose(&text), "`", "`") {
            let Some(file) = path_in(code) else { continue };
            named += 1;
            if !root().join(file).exists() {
                wrong.push(format!("{path} names {file}, which does not exist"));
            }
        }
    }
    all_right(named, &wrong);
}

/// "`Engine::act` in `crates/engine/src/act.rs`": the file has that name in it.
#[test]
fn functions_are_in_the_files_that_are_named_with_them() {
    let (mut found, mut wrong) = (0, Vec::new());
    for Page { path, text } in pages() {
        let prose = prose(&text);
        for pair in between(&prose, "`", "`").windows(2) {
            let [(_, name), (" in ", code)] = pair else { continue };
            let Some(file) = path_in(code).filter(|file| file.ends_with(".rs")) else { continue };
            let word = words(name).last().unwrap_or_default();
            found += 1;
            let source = fs::read_to_string(root().join(file)).unwrap_or_default();
            if !words(&source).any(|known| known == word) {
                wrong.push(format!("{path} says that {name} is in {file}, where there is no {word}"));
            }
        }
    }
    all_right(found, &wrong);
}

/// Identifiers and numbers.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// `docs/api.md, "Log URLs"` in code, and `[The API](api.md), "Log URLs"` in the book.
#[test]
fn headings_that_are_referred_to_exist() {
    let book = files("docs", &[".md"]);
    let mut references = Vec::new();
    for folder in ["crates", "tests", "tools"] {
        for Page { path, text } in files(folder, &[".rs", ".toml"]) {
            let lines: Vec<_> =
                text.lines().map(|line| line.trim_start_matches([' ', '/', '!', '#'])).collect();
            for (before, heading) in between(&lines.join(" "), ".md, \"", "\"") {
                if let Some((_, page)) = before.rsplit_once("docs/").filter(|(_, page)| !page.contains(' ')) {
                    references.push((path.clone(), format!("{page}.md"), heading.to_owned()));
                }
            }
        }
    }
    for Page { path, text } in &book {
        for (before, heading) in between(&prose(text), ".md), \"", "\"") {
            let page = before.rsplit("](").next().unwrap_or_default();
            references.push((path.clone(), format!("{page}.md"), heading.to_owned()));
        }
    }
    let is_there = |page: &str, heading: &str| {
        let page = book.iter().find(|there| there.path == format!("docs/{page}"));
        page.is_some_and(|page| headings(&page.text).contains(heading))
    };
    let wrong: Vec<_> = references
        .iter()
        .filter(|(_, page, heading)| !is_there(page, heading))
        .map(|(path, page, heading)| {
            format!("{path} refers to {heading:?} in docs/{page}, which is not there")
        })
        .collect();
    all_right(references.len(), &wrong);
}

#[test]
fn every_page_is_in_the_summary() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let names: Vec<_> = files("docs", &[".md"]).iter().map(|page| page.path.replace("docs/", "")).collect();
    let missing =
        names.iter().filter(|name| *name != "SUMMARY.md" && !summary.contains(&format!("({name})")));
    let wrong: Vec<_> = missing.map(|name| format!("docs/{name} is not in docs/SUMMARY.md")).collect();
    all_right(names.len(), &wrong);
}
