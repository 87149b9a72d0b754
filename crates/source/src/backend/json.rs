//! What a `.tf.json` file says of the state.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{Named, PLAIN_PATH, Unclear, could_name_one};

pub(super) fn read(text: &str) -> Result<Vec<Named>, Unclear> {
    let root: Node = match serde_json::from_str(text) {
        Ok(root) => root,
        // a name may be written with escapes
        Err(error) if could_name_one(text) || text.contains("\\u") => {
            return Err(Unclear { line: error.line(), reason: error.to_string() });
        }
        Err(_) => return Ok(Vec::new()),
    };
    let mut found = Vec::new();
    for (_, terraform) in root.properties().filter(|(name, _)| name == "terraform") {
        for (name, value) in terraform.properties() {
            match name.as_str() {
                "cloud" => found.extend(value.bodies().map(|_| Named::Cloud)),
                "backend" => {
                    for (kind, value) in value.properties() {
                        for body in value.bodies() {
                            found.push(backend(kind, body)?);
                        }
                    }
                }
                _ => {}
            }
        }
    }
    Ok(found)
}

fn backend(kind: &str, body: &Node) -> Result<Named, Unclear> {
    if kind == "local" && !is_absolute(body)? {
        let path = body.properties().find_map(|(name, path)| match path {
            Node::String(path) if name == "path" => Some(path.clone()),
            _ => None,
        });
        return Ok(Named::LocalInside(path));
    }
    Ok(Named::Backend(kind.to_owned()))
}

fn is_absolute(local: &Node) -> Result<bool, Unclear> {
    let Some((_, path)) = local.properties().find(|(name, _)| name == "path") else { return Ok(false) };
    match path {
        Node::String(path) if path.starts_with("${") || path.starts_with("%{") => {}
        Node::String(path) => return Ok(path.starts_with('/')),
        Node::Nothing | Node::Scalar => return Ok(false),
        Node::Array(_) | Node::Object(_) => {}
    }
    // the parser does not tell where it was
    Err(Unclear { line: 1, reason: PLAIN_PATH.to_owned() })
}

/// A value that keeps properties of the same name, in their order: to terraform each is a block.
enum Node {
    Nothing,
    Scalar,
    String(String),
    Array(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl Node {
    /// The properties of an object, or of all objects in an array: terraform takes one for the other.
    fn properties(&self) -> Box<dyn Iterator<Item = &(String, Node)> + '_> {
        match self {
            Self::Object(properties) => Box::new(properties.iter()),
            Self::Array(items) => Box::new(items.iter().flat_map(Self::properties)),
            Self::Nothing | Self::Scalar | Self::String(_) => Box::new(std::iter::empty()),
        }
    }

    /// The bodies of blocks, of which null has none.
    fn bodies(&self) -> Box<dyn Iterator<Item = &Node> + '_> {
        match self {
            Self::Object(_) => Box::new(std::iter::once(self)),
            Self::Array(items) => Box::new(items.iter().flat_map(Self::bodies)),
            Self::Nothing | Self::Scalar | Self::String(_) => Box::new(std::iter::empty()),
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Nothing)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element()? {
            array.push(item);
        }
        Ok(Node::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut properties: A) -> Result<Node, A::Error> {
        let mut object = Vec::new();
        while let Some(name) = properties.next_key::<String>()? {
            object.push((name, properties.next_value()?));
        }
        Ok(Node::Object(object))
    }
}
