//! What a `.tf` file says of the state.

use hcl_edit::expr::Expression;
use hcl_edit::parser::parse_body;
use hcl_edit::structure::{Block, Body};
use hcl_edit::template::Element;

use super::blocks::{TerraformBlock, terraform_blocks};
use super::{Named, Unclear, could_name_one};

/// The parser calls itself for what lies in each other; a `terraform` block needs six levels.
const MAX_DEPTH: usize = 64;

pub(super) fn read(text: &str) -> Result<Vec<Named>, Unclear> {
    let mut named = Vec::new();
    for block in terraform_blocks(text.strip_prefix('\u{feff}').unwrap_or(text)) {
        named.extend(in_block(block)?);
    }
    Ok(named)
}

fn in_block(block: TerraformBlock<'_>) -> Result<Vec<Named>, Unclear> {
    let unclear = |line: usize, reason: String| match could_name_one(block.text) {
        true => Err(Unclear { line: block.line + line, reason }),
        false => Ok(Vec::new()),
    };
    if block.depth > MAX_DEPTH {
        return unclear(0, "its brackets lie too deep in each other".to_owned());
    }
    let body = match parse_body(block.text) {
        Ok(body) => body,
        Err(error) => {
            return unclear(
                error.location().line().saturating_sub(1),
                error.message().trim().replace('\n', ", "),
            );
        }
    };
    body.get_blocks("terraform")
        .flat_map(|terraform| terraform.body.blocks())
        .filter_map(|inner| named(inner).transpose())
        .collect::<Result<_, _>>()
        .map_err(|reason| Unclear { line: block.line, reason })
}

fn named(block: &Block) -> Result<Option<Named>, String> {
    if block.has_ident("cloud") {
        return Ok(Some(Named::Cloud));
    }
    if !block.has_ident("backend") {
        return Ok(None);
    }
    Ok(match block.labels.first().map(|label| label.as_str()) {
        Some("local") if !is_absolute(&block.body)? => Some(Named::LocalInside),
        Some(kind) => Some(Named::Backend(kind.to_owned())),
        None => None,
    })
}

fn is_absolute(local: &Body) -> Result<bool, String> {
    local.get_attribute("path").map_or(Ok(false), |path| begins_with_slash(&path.value))
}

/// Whatever comes after its beginning does not change where a path leads.
fn begins_with_slash(path: &Expression) -> Result<bool, String> {
    match path {
        Expression::Null(_) | Expression::Bool(_) | Expression::Number(_) => Ok(false),
        Expression::String(path) => Ok(path.starts_with('/')),
        Expression::Parenthesis(inner) => begins_with_slash(inner.inner()),
        Expression::StringTemplate(template) => match template.iter().next() {
            Some(Element::Literal(beginning)) => Ok(beginning.starts_with('/')),
            _ => Err(super::PLAIN_PATH.to_owned()),
        },
        _ => Err(super::PLAIN_PATH.to_owned()),
    }
}
