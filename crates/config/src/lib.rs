//! The config file: its language, its mistakes, and what it says.

mod calls;
mod context;
mod decode;
mod diagnostic;
mod expression;
mod git;
mod host;
mod load;
mod model;
mod node;
mod number;
mod parse;
mod render;
mod schema;
mod sections;
mod sensitive;
mod source;
mod suggest;
mod text;
mod values;

pub use diagnostic::{Code, Diagnostic, Diagnostics, Related, Severity};
pub use host::{Host, SystemHost};
pub use load::Loaded;
pub use model::{
    Config, GitSource, OWNERS, PolicySetConfig, ServerConfig, Source, TeamConfig, UserConfig, WorkspaceConfig,
};
pub use sensitive::Sensitive;
pub use source::{DefinedAt, Location};
pub use values::{Pattern, TokenDigest};
