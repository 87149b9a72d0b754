variable "berths" {
  description = "How many ships can moor at once"
  type        = number
  default     = 1
}

resource "terraform_data" "quay" {
  input = { name = "north quay", berths = var.berths }
}

resource "terraform_data" "berth" {
  count = var.berths
  input = "${terraform_data.quay.output.name}, berth ${count.index + 1}"

  provisioner "local-exec" {
    command = "echo building berth ${count.index + 1}; sleep 1"
  }
}

output "berths" {
  description = "Where ships can moor"
  value       = terraform_data.berth[*].output
}
