# What `signalbox demo` runs on: one workspace with a policy set, and nothing that leaves this machine.

server {
  listen   = "127.0.0.1:0" # a free port
  data_dir = "./data"
}

organization = "demo"

user "you" {
  token_sha256 = env("SIGNALBOX_DEMO_TOKEN_SHA256")
}

team "owners" {
  members = ["you"]
}

policy_set "harbour-rules" {
  path = "./policies"
}

workspace "harbour" {
  description = "A harbour of terraform_data, which needs no provider and no cloud"

  source "directory" {
    path = "./harbour"
  }

  variables = {
    berths = 2
  }
}
