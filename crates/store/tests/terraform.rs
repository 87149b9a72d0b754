//! States that the real terraform wrote.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::fs;
use std::path::Path;
use std::process::Command;

use lifecycle::id::StateVersionId;
use serde_json::json;
use store::{
    AddStateError, Error, NewStateVersion, NewWorkspace, StateConflict, StateMeta, StateVersion, Store,
    state_outputs,
};

const CONFIGURATION: &str = r#"
variable "size" { type = number }
resource "terraform_data" "disk" { input = var.size }
output "size" { value = terraform_data.disk.output }
output "password" {
  value     = { pin = "1234" }
  sensitive = true
}
"#;

fn terraform(dir: &Path, arguments: &[&str]) {
    let mut command = Command::new("terraform");
    let output = command.args(arguments).current_dir(dir).env_remove("TF_CLI_CONFIG_FILE").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

async fn take(store: &Store, file: &Path) -> Result<StateVersion, AddStateError> {
    let now = jiff::Timestamp::now();
    let workspace = match store.workspace_by_name("network").await? {
        Some(workspace) => workspace.id,
        None => store.create_workspace(NewWorkspace::named("network", now)).await?.id,
    };
    let blob = store.blobs().put_file(file).await?;
    let meta = StateMeta::parse(&store.blobs().read(blob.digest).await?).unwrap();
    let new = NewStateVersion {
        id: StateVersionId::generate(),
        workspace,
        run: None,
        meta,
        digest: blob.digest,
        size: blob.size,
        created_at: now,
        created_by: "ada".into(),
        json: None,
    };
    store.add_state_version(new).await
}

#[tokio::test]
async fn the_states_of_real_applies_follow_each_other_and_those_of_others_do_not() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("data")).await.unwrap();
    let [work, other] = ["work", "other"].map(|name| {
        let work = dir.path().join(name);
        fs::create_dir(&work).unwrap();
        fs::write(work.join("main.tf"), CONFIGURATION).unwrap();
        terraform(&work, &["init", "-input=false"]);
        terraform(&work, &["apply", "-input=false", "-auto-approve", "-var=size=1"]);
        work
    });
    let file = work.join("terraform.tfstate");
    let first = take(&store, &file).await.unwrap();
    assert!(first.meta.serial > 0 && !first.meta.terraform_version.is_empty());
    let outputs = state_outputs(fs::File::open(&file).unwrap(), &file).unwrap();
    let value = |output: &store::StateOutput| -> serde_json::Value {
        serde_json::from_str(output.value.get()).unwrap()
    };
    let seen: Vec<_> = outputs.iter().map(|o| (o.name.as_str(), value(o), o.sensitive)).collect();
    assert_eq!(seen, [("password", json!({ "pin": "1234" }), true), ("size", json!(1), false)]);
    assert_eq!(outputs[0].detailed_type, json!(["object", { "pin": "string" }]));

    // an apply without changes leaves the state as it was
    terraform(&work, &["apply", "-input=false", "-auto-approve", "-var=size=1"]);
    assert_eq!(take(&store, &file).await.unwrap(), first);
    terraform(&work, &["apply", "-input=false", "-auto-approve", "-var=size=2"]);
    let second = take(&store, &file).await.unwrap();
    assert!(second.meta.serial > first.meta.serial);
    assert_eq!(second.meta.lineage, first.meta.lineage);

    let older = StateConflict::OlderSerial { current: second.meta.serial, given: first.meta.serial };
    let refused = take(&store, &store.blobs().path(first.digest)).await;
    assert_eq!(refused, Err(AddStateError::Conflict(older)));
    let refused = take(&store, &other.join("terraform.tfstate")).await;
    assert!(
        matches!(refused, Err(AddStateError::Conflict(StateConflict::OtherLineage { .. }))),
        "{refused:?}"
    );
    assert_eq!(store.current_state(second.workspace).await, Ok::<_, Error>(Some(second)));
}
