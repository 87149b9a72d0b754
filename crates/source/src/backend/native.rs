//! What a `.tf` file says of the state.
//!
//! Only its `terraform` blocks are read, so that nothing that the reader may not know, somewhere in a large file, can
//! keep the backend from being found.

use hcl_reader::{Block, Body, DuplicateOf, Expression, Fragment, Kind, Part, cut_blocks, parse, position};

use super::{Named, Unclear, could_name_one};

pub(super) fn read(text: &str) -> Result<Vec<Named>, Unclear> {
    let mut named = Vec::new();
    for block in cut_blocks(text, "terraform") {
        named.extend(in_block(text, block)?);
    }
    Ok(named)
}

fn in_block(text: &str, Fragment { text: block, start }: Fragment<'_>) -> Result<Vec<Named>, Unclear> {
    let unclear = |at: usize, reason| Unclear { line: position(text, start + at).line, reason };
    match body(block) {
        Ok(body) => {
            let inner = body.blocks.iter().flat_map(|terraform| &terraform.body.blocks);
            let found: Result<_, String> = inner.filter_map(|inner| named(inner).transpose()).collect();
            found.map_err(|reason| unclear(0, reason))
        }
        Err((at, reason)) if could_name_one(block) => Err(unclear(at, reason)),
        Err(_) => Ok(Vec::new()),
    }
}

/// What the block says, if terraform would read it too; or else where and why not.
fn body(block: &str) -> Result<Body<'_>, (usize, String)> {
    let document =
        parse(block, block.len()).map_err(|broken| (broken.error.span.start, broken.error.to_string()))?;
    match document.duplicates.iter().find(|twice| twice.of == DuplicateOf::Attribute) {
        Some(twice) => Err((twice.again.start, format!("`{}` is set twice", twice.name))),
        None => Ok(document.body),
    }
}

fn named(block: &Block<'_>) -> Result<Option<Named>, String> {
    match block.kind.as_str() {
        "cloud" => return Ok(Some(Named::Cloud)),
        "backend" => {}
        _ => return Ok(None),
    }
    Ok(match block.labels.first().map(|label| label.as_str()) {
        Some("local") if !is_absolute(&block.body)? => Some(Named::LocalInside(local_path(&block.body))),
        Some(kind) => Some(Named::Backend(kind.to_owned())),
        None => None,
    })
}

fn is_absolute(local: &Body<'_>) -> Result<bool, String> {
    local.attribute("path").map_or(Ok(false), |path| begins_with_slash(&path.value))
}

/// As far as it is plain text.
fn local_path(local: &Body<'_>) -> Option<String> {
    match &local.attribute("path")?.value.kind {
        Kind::String(path) => Some(path.to_string()),
        _ => None,
    }
}

/// Whatever comes after its beginning does not change where a path leads.
fn begins_with_slash(path: &Expression<'_>) -> Result<bool, String> {
    match &path.kind {
        Kind::Null | Kind::Bool(_) | Kind::Number(_) => Ok(false),
        Kind::String(path) => Ok(path.starts_with('/')),
        Kind::Template(parts) => match parts.first() {
            Some(Part::Text(beginning)) => Ok(beginning.starts_with('/')),
            _ => Err(super::PLAIN_PATH.to_owned()),
        },
        _ => Err(super::PLAIN_PATH.to_owned()),
    }
}
