//! Terraform configurations that do what a test needs, with nothing but the built-in `terraform_data`.

/// One resource whose value is a variable, so that a changed value is a changed plan.
pub const SIMPLE: &str = r#"
variable "size" {
  type    = string
  default = "small"
}

resource "terraform_data" "thing" {
  input = var.size
}

output "size" {
  value = terraform_data.thing.output
}
"#;

/// A plan that fails.
pub const BROKEN_PLAN: &str = r#"
resource "terraform_data" "thing" {
  input = 1
  lifecycle {
    precondition {
      condition     = terraform.workspace == "elsewhere"
      error_message = "one is not two"
    }
  }
}
"#;

/// An apply that makes one resource and fails at the next.
pub const BROKEN_APPLY: &str = r#"
resource "terraform_data" "first" {
  input = "made"
}

resource "terraform_data" "second" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" {
    command = "echo about to fail; exit 3"
  }
}
"#;

/// An apply that makes one resource, says so by a file, and waits at the next until another file lets it go on.
pub fn gated_apply(gate: &super::Gate) -> String {
    format!(
        r#"
resource "terraform_data" "first" {{
  input = "made"
}}

resource "terraform_data" "second" {{
  depends_on = [terraform_data.first]
  provisioner "local-exec" {{
    command = "{}"
  }}
}}
"#,
        gate.wait_command()
    )
}
