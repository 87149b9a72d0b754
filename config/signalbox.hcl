# Every setting there is. A line that begins with `#` and one space explains; every other line that begins with `#` is
# a setting that is switched off, because it needs something that is not here. `signalbox config check FILE` says what
# is wrong with a file, all of it at once. A running daemon takes a changed file over; one with mistakes changes nothing.

# The daemon itself. All of these have defaults, which are the values here.
server {
  listen              = "127.0.0.1:8080" # IP address and port
  data_dir            = "./data"         # runs, logs, states; relative paths start at this file's directory
  max_concurrent_runs = 4                # plans and applies at once, 1 to 1000
  terraform           = "terraform"      # name or path of the binary; a workspace may have its own
  cancel_grace        = "2m"             # from the interrupt of a cancel to the kill of what is still alive
  force_cancel_after  = "10s"            # from a cancel to the moment when a force-cancel is allowed

  # What waits for others has places of its own, so that no apply waits behind it.
  max_concurrent_fetches       = 4 # configurations that are fetched at once
  max_concurrent_policy_checks = 4

  # Nothing waits for ever: a command that takes longer is interrupted, and after `cancel_grace` killed.
  plan_time_limit  = "2h" # init and plan, each
  apply_time_limit = "24h"

  # How long fetching a configuration from elsewhere may take, and an upload.
  fetch_time_limit  = "10m"
  upload_time_limit = "1h"

  # How large configurations and uploaded states may be. The state that an apply leaves is kept, whatever its size.
  max_configuration_size  = "512 MiB"
  max_configuration_files = 50000
  max_state_size          = "1 GiB"

  # What is kept of each workspace that says nothing else: the newest so many, and none that is older, but for the newest
  # 20. What a run that goes on or the current state needs is never removed. A run goes with its logs, plan and configuration.
  keep_runs       = 1000
  keep_runs_for   = "365d" # or "forever"
  keep_states     = 200
  keep_states_for = "365d"

  # Below so much free space where the data lies no run starts; those that go on are not stopped.
  min_free_space = "256 MiB"

  # How many connections one address may have. Behind a proxy all clients have that of the proxy.
  max_connections_per_address = 512

  # Encrypts what is kept: states, plans, configurations, logs. `signalbox encryption key` makes a key; without one all
  # of it lies in clear. docs/encryption.md says how a key is changed.
  #encryption_key           = file("./encryption.key")
  #previous_encryption_keys = [env("OLD_KEY")]

  # Keeps the code of runs from the daemon's data, its processes and other runs: "on" as far as the kernel can,
  # "required" (no start where it can't) or "off". It writes to its own files, /tmp, and what is named here.
  isolation = "on"
  #writable_paths = ["/srv/artifacts"]

  # Where Prometheus reads how the daemon is, at /metrics and without a token: names of workspaces are in it.
  #metrics_listen = "127.0.0.1:9464"

  # The address under which clients reach the daemon, if it is not http:// and `listen`: behind a proxy, for example.
  #public_url = "https://signalbox.example.com"
}

organization = "acme"

# Who may come in. `signalbox token new NAME` makes a token and prints this line. Two tokens are written as a list, so
# that a new one can be handed out before the old one goes.
user "owner" {
  token_sha256 = "0000000000000000000000000000000000000000000000000000000000000001"
}

user "operator" {
  token_sha256 = [
    "0000000000000000000000000000000000000000000000000000000000000002",
    "0000000000000000000000000000000000000000000000000000000000000003",
  ]
}

# The owners may do everything, and only they override policies. What other teams may do is said in each workspace.
team "owners" {
  members = ["owner"]
}

team "platform" {
  members = ["operator"]
}

# A folder of policies, in Rego (with a policies.hcl) or in Sentinel (with a sentinel.hcl), and the workspaces whose
# plans they judge: `*` stands for any characters, `?` for one. Without `workspaces` it is all of them. A policy that
# does not end within `time_limit` has failed. Sentinel's `http` import reaches the hosts that are named, and no other.
#policy_set "baseline" {
#  path          = "./policies"
#  policies_path = "baseline" # the folder of it that is the set; sources may lead out of it, never out of `path`
#  workspaces    = ["network-*"]
#  time_limit    = "10s"
#  http_hosts    = ["api.example.com", "10.0.0.7:8443"]
#  parameters    = { allowed_sizes = ["small", "medium"] }   # of Sentinel policies; they win over those in sentinel.hcl
#  sensitive_parameters = { api_token = env("API_TOKEN") }
#}

# A configuration that lies on this machine.
workspace "hello" {
  source "directory" {
    path = "./demo/harbour"
  }
  #working_directory = "live/prod" # the folder of the source in which terraform runs; default its root
  access = { platform = "write" }
}

# A configuration from Git, and everything else that a workspace may have.
workspace "network-prod" {
  description = "Networks of the production account"

  source "git" {
    url  = "https://git.example.com/infra.git" # or git@host:path, ssh://…, or a path
    ref  = "main"                              # branch, tag, full ref or commit; default HEAD
    path = "network"                           # short for working_directory
  }

  terraform  = "terraform" # instead of the server's
  auto_apply = false       # apply without a person's confirmation; a destroy plan waits for one all the same

  # Instead of the server's.
  #keep_runs   = 100
  #keep_states = 1000

  # Terraform variables: any value.
  variables = {
    region = "eu-west-1"
    zones  = ["a", "b"]
  }

  # Variables that signalbox shows nobody. Terraform prints them in plans unless the configuration declares them
  # `sensitive` too. `env` reads the daemon's environment, `file` a file, without a line break at its end.
  #sensitive_variables = {
  #  db_password = env("DB_PASSWORD")
  #  api_key     = file("./api-key")
  #}

  # Environment of terraform: strings. It has nothing else of the daemon's, so what a provider needs goes here.
  environment = {
    AWS_PROFILE = "prod"
  }

  #sensitive_environment = {
  #  AWS_SECRET_ACCESS_KEY = env("AWS_SECRET_ACCESS_KEY")
  #}

  # By team: read, plan (queue runs), write (confirm, discard, cancel, lock, bring states),
  # admin (force-cancel, force-unlock).
  # When this block is removed it stands until the runs under way are over, and a day longer.
  access = {
    platform = "write"
  }
}
