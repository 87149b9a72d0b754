//! Configurations of any size.

use std::fmt::Write as _;

/// A configuration with that many workspaces, each with what most have.
pub(crate) fn many(workspaces: usize) -> String {
    let mut text = format!(
        "organization = \"acme\"\nuser \"owner\" {{ token_sha256 = \"{}\" }}\n\
         team \"owners\" {{ members = [\"owner\"] }}\nteam \"platform\" {{ members = [\"owner\"] }}\n",
        "1".repeat(64)
    );
    for number in 0..workspaces {
        let _ = write!(
            text,
            r#"
workspace "network-{number}" {{
  source "git" {{
    url  = "https://git.example.com/infra.git"
    ref  = "main"
    path = "network/{number}"
  }}
  terraform           = "terraform-1.{}"
  auto_apply          = true
  variables           = {{ region = "eu-west-1", size = {number} }}
  sensitive_variables = {{ password = "secret-{number}" }}
  environment         = {{ AWS_PROFILE = "prod" }}
  access              = {{ platform = "write" }}
}}
"#,
            number % 10
        );
    }
    text
}
