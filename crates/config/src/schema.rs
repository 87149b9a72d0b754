//! The language: what may stand where. Checks, messages and suggestions are made from these tables.

/// An attribute or a block, with how to write it.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// An attribute's value, or a whole block.
    pub(crate) example: &'static str,
}

/// What a body may hold.
pub(crate) struct Schema {
    /// All bodies of the kind, as the subject of a sentence.
    pub(crate) what: &'static str,
    pub(crate) attributes: &'static [Entry],
    pub(crate) blocks: &'static [Entry],
}

impl Schema {
    pub(crate) fn attribute(&self, name: &str) -> Option<&Entry> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// The names of the attributes, then of the blocks.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.attributes.iter().chain(self.blocks).map(|entry| entry.name)
    }

    pub(crate) fn block(&self, name: &str) -> Option<&Entry> {
        self.blocks.iter().find(|block| block.name == name)
    }
}

const fn entry(name: &'static str, example: &'static str) -> Entry {
    Entry { name, example }
}

pub(crate) const FILE: Schema = Schema {
    what: "a config file",
    attributes: &[entry("organization", "\"acme\"")],
    blocks: &[
        entry("server", "server { … }"),
        entry("user", "user \"name\" { … }"),
        entry("team", "team \"name\" { … }"),
        entry("policy_set", "policy_set \"name\" { … }"),
        entry("workspace", "workspace \"name\" { … }"),
    ],
};

pub(crate) const SERVER: Schema = Schema {
    what: "`server`",
    attributes: &[
        entry("listen", "\"127.0.0.1:8080\""),
        entry("data_dir", "\"./data\""),
        entry("max_concurrent_runs", "4"),
        entry("terraform", "\"terraform\""),
        entry("cancel_grace", "\"2m\""),
        entry("force_cancel_after", "\"10s\""),
        entry("public_url", "\"https://signalbox.example.com\""),
        entry("max_concurrent_fetches", "4"),
        entry("max_concurrent_policy_checks", "4"),
        entry("plan_time_limit", "\"2h\""),
        entry("apply_time_limit", "\"24h\""),
        entry("isolation", "\"on\""),
        entry("writable_paths", "[\"/srv/artifacts\"]"),
        entry("fetch_time_limit", "\"10m\""),
        entry("upload_time_limit", "\"1h\""),
        entry("max_configuration_size", "\"512 MiB\""),
        entry("max_configuration_files", "50000"),
        entry("max_state_size", "\"1 GiB\""),
        entry("metrics_listen", "\"127.0.0.1:9464\""),
        entry("min_free_space", "\"256 MiB\""),
        entry("keep_runs", "1000"),
        entry("keep_runs_for", "\"365d\""),
        entry("keep_states", "200"),
        entry("keep_states_for", "\"365d\""),
        entry("max_connections_per_address", "512"),
        entry("encryption_key", "file(\"encryption.key\")"),
        entry("previous_encryption_keys", "[file(\"previous.key\")]"),
    ],
    blocks: &[],
};

pub(crate) const USER: Schema =
    Schema { what: "a user", attributes: &[entry("token_sha256", "\"…\"")], blocks: &[] };

pub(crate) const TEAM: Schema =
    Schema { what: "a team", attributes: &[entry("members", "[\"name\"]")], blocks: &[] };

pub(crate) const POLICY_SET: Schema = Schema {
    what: "a policy set",
    attributes: &[
        entry("path", "\"./policies/baseline\""),
        entry("policies_path", "\"aws\""),
        entry("workspaces", "[\"network-*\"]"),
        entry("time_limit", "\"10s\""),
        entry("http_hosts", "[\"api.example.com\"]"),
        entry("parameters", "{ allowed_sizes = [\"small\"] }"),
        entry("sensitive_parameters", "{ api_token = env(\"API_TOKEN\") }"),
    ],
    blocks: &[],
};

pub(crate) const WORKSPACE: Schema = Schema {
    what: "a workspace",
    attributes: &[
        entry("description", "\"…\""),
        entry("working_directory", "\"network\""),
        entry("terraform", "\"terraform\""),
        entry("auto_apply", "false"),
        entry("variables", "{ region = \"eu-west-1\" }"),
        entry("sensitive_variables", "{ db_password = env(\"DB_PASSWORD\") }"),
        entry("environment", "{ AWS_PROFILE = \"prod\" }"),
        entry("sensitive_environment", "{ AWS_SECRET_ACCESS_KEY = env(\"AWS_SECRET_ACCESS_KEY\") }"),
        entry("access", "{ platform = \"write\" }"),
        entry("keep_runs", "1000"),
        entry("keep_runs_for", "\"365d\""),
        entry("keep_states", "200"),
        entry("keep_states_for", "\"365d\""),
    ],
    blocks: &[entry("source", "source \"directory\" { … }")],
};

pub(crate) const GIT_SOURCE: Schema = Schema {
    what: "a git source",
    attributes: &[
        entry("url", "\"https://git.example.com/infra.git\""),
        entry("ref", "\"main\""),
        entry("path", "\"network\""),
    ],
    blocks: &[],
};

pub(crate) const DIRECTORY_SOURCE: Schema =
    Schema { what: "a directory source", attributes: &[entry("path", "\"./infra/network\"")], blocks: &[] };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_of_an_attribute_is_a_value() {
        for schema in [&FILE, &SERVER, &USER, &TEAM, &POLICY_SET, &WORKSPACE, &GIT_SOURCE, &DIRECTORY_SOURCE]
        {
            for attribute in schema.attributes {
                let text = format!("{} = {}", attribute.name, attribute.example);
                assert!(hcl_reader::parse(&text, text.len()).is_ok(), "{text}");
            }
        }
    }
}
