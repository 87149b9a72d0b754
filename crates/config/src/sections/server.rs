use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use hcl_reader::Block;
use lifecycle::retention::Retention;
use seal::{Key, Keyring};

use super::retention::retention;
use crate::context::{Context, Issue};
use crate::decode::OneOrMore;
use crate::diagnostic::Code;
use crate::fields::Fields;
use crate::model::{IsolationMode, ServerConfig};
use crate::schema::SERVER;
use crate::text::{LocalPath, Program, Size};

/// Below this, terraform has no time to stop by itself and write its state.
const SHORTEST_GRACE: Duration = Duration::from_millis(100);

/// The settings of the `server` block; defaults for what is not there, which may be all.
pub(crate) fn server<'a>(
    blocks: impl Iterator<Item = &'a Block<'a>>,
    context: &mut Context<'_>,
) -> ServerConfig {
    let mut settings = ServerConfig {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
        data_dir: context.base.join("data"),
        max_concurrent_runs: 4,
        max_concurrent_fetches: 4,
        max_concurrent_policy_checks: 4,
        plan_time_limit: Duration::from_secs(2 * 60 * 60),
        apply_time_limit: Duration::from_secs(24 * 60 * 60),
        fetch_time_limit: Duration::from_secs(10 * 60),
        upload_time_limit: Duration::from_secs(60 * 60),
        max_configuration_size: 512 << 20,
        max_configuration_files: 50_000,
        max_state_size: 1 << 30,
        metrics_listen: None,
        min_free_space: 256 << 20,
        retention: Retention::default(),
        max_connections_per_address: 512,
        encryption: Keyring::default(),
        isolation: IsolationMode::default(),
        writable_paths: Vec::new(),
        terraform: "terraform".into(),
        cancel_grace: Duration::from_secs(120),
        force_cancel_after: Duration::from_secs(10),
        public_url: None,
    };
    let mut first = None;
    for block in blocks {
        let span = block.header();
        if !block.labels.is_empty() {
            let issue = Issue::error(Code::WrongLabels, &span, "`server` takes no name");
            context.report(issue.help("write `server { … }`"));
        }
        if let Some(first) = &first {
            let issue = Issue::error(Code::Duplicate, &span, "there are two `server` blocks");
            context.report(issue.label("again here").related(first, "first here").help("put all into one"));
        }
        read(block, &mut settings, context);
        first.get_or_insert(span);
    }
    settings
}

fn read(block: &Block<'_>, settings: &mut ServerConfig, context: &mut Context<'_>) {
    let span = block.header();
    let fields = Fields::read(&block.body, "`server`".into(), &span, &SERVER, context);
    set(&mut settings.listen, fields.optional("listen", context));
    set(&mut settings.data_dir, fields.optional("data_dir", context).map(|LocalPath(path)| path));
    for (name, limit) in [
        ("max_concurrent_runs", &mut settings.max_concurrent_runs),
        ("max_concurrent_fetches", &mut settings.max_concurrent_fetches),
        ("max_concurrent_policy_checks", &mut settings.max_concurrent_policy_checks),
    ] {
        set(limit, fields.whole(name, 1..=1000, context).and_then(|number| usize::try_from(number).ok()));
    }
    for (name, limit) in [
        ("plan_time_limit", &mut settings.plan_time_limit),
        ("apply_time_limit", &mut settings.apply_time_limit),
        ("fetch_time_limit", &mut settings.fetch_time_limit),
        ("upload_time_limit", &mut settings.upload_time_limit),
    ] {
        set(limit, fields.optional(name, context));
    }
    for (name, size) in [
        ("max_configuration_size", &mut settings.max_configuration_size),
        ("max_state_size", &mut settings.max_state_size),
        ("min_free_space", &mut settings.min_free_space),
    ] {
        set(size, fields.optional(name, context).map(|Size(bytes)| bytes));
    }
    set(
        &mut settings.max_configuration_files,
        fields.whole("max_configuration_files", 1..=10_000_000, context),
    );
    let connections = fields.whole("max_connections_per_address", 1..=100_000, context);
    set(
        &mut settings.max_connections_per_address,
        connections.and_then(|number| usize::try_from(number).ok()),
    );
    settings.retention = retention(&fields, settings.retention, context);
    settings.encryption = encryption(&fields, context);
    set(&mut settings.terraform, fields.optional("terraform", context).map(|Program(path)| path));
    set(&mut settings.force_cancel_after, fields.optional("force_cancel_after", context));
    set(&mut settings.isolation, fields.optional("isolation", context));
    if let Some(OneOrMore(paths)) = fields.optional::<OneOrMore<LocalPath>>("writable_paths", context) {
        settings.writable_paths = paths.into_iter().map(|(LocalPath(path), _)| path).collect();
    }
    settings.metrics_listen = fields.optional("metrics_listen", context);
    settings.public_url = fields.optional("public_url", context);

    if let Some(grace) = fields.optional::<Duration>("cancel_grace", context) {
        settings.cancel_grace = grace;
        if let (true, Some(node)) = (grace < SHORTEST_GRACE, fields.node("cancel_grace")) {
            let message = "invalid `cancel_grace`: too short for terraform to stop and write its state";
            let issue = Issue::error(Code::InvalidValue, &node.span, message);
            context.report(issue.help("write at least \"100ms\"; some minutes are usual"));
        }
    }
    if let (true, None, Some(node)) =
        (settings.listen.ip().is_unspecified(), fields.node("public_url"), fields.node("listen"))
    {
        let message = "clients on other machines will be given URLs that lead to themselves";
        let issue = Issue::warning(Code::Suspicious, &node.span, message).label("stands for every address");
        context
            .report(issue.help("add `public_url = \"http://NAME:PORT\"`, with the name that clients know"));
    }
}

/// The keys that are read. What stands there is a secret, right or wrong, and no message repeats it.
fn encryption(fields: &Fields<'_>, context: &mut Context<'_>) -> Keyring {
    for name in ["encryption_key", "previous_encryption_keys"] {
        if let Some(node) = fields.node(name) {
            context.hide(&node.span);
            context.secret(&node.span);
        }
    }
    let current: Option<Key> = fields.optional("encryption_key", context);
    let previous = fields.optional::<OneOrMore<Key>>("previous_encryption_keys", context);
    Keyring::new(current, previous.into_iter().flat_map(|OneOrMore(keys)| keys).map(|(key, _)| key))
}

fn set<T>(setting: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *setting = value;
    }
}
