//! Ends that are not as they should be: each run comes to one, it says what is known, and nothing that was made is forgotten.

use client::{RunAction, Stage};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Setup, World, auto_apply, terraform, wait_for};

/// A resource whose provisioner does this, after another was made.
fn meddler(command: &str) -> String {
    format!(
        r#"
resource "terraform_data" "first" {{
  input = "made"
}}

resource "terraform_data" "meddler" {{
  depends_on = [terraform_data.first]
  provisioner "local-exec" {{
    command = "{command}"
  }}
}}
"#
    )
}

async fn force_cancel(world: &World, run: &client::Run) {
    wait_for("the force-cancel is accepted", async || {
        world.act("admin", run, RunAction::ForceCancel).await.ok()
    })
    .await;
}

#[tokio::test]
async fn an_apply_whose_state_was_removed_says_so_and_its_workspace_is_out_of_service() {
    let gone = [
        "rm -f terraform.tfstate*",
        "mv terraform.tfstate elsewhere",
        ": > terraform.tfstate; rm terraform.tfstate; touch terraform.tfstate",
    ];
    for command in gone {
        for end in ["", "; exit 3"] {
            let world = Setup::new().workspace("net", &meddler(&format!("{command}{end}"))).start();
            let run = world.queue_as("operator", "net", auto_apply()).await;
            let next = world.queue_as("operator", "net", auto_apply()).await;
            // the exit status decides, and not what is found
            let run = world.reaches(&run, if end.is_empty() { "Applied" } else { "Apply Errored" }).await;
            let words = run.error().unwrap_or_default();
            let kept = world.data_dir().join("runs").join(&run.id).join("work");
            assert!(
                words.contains("no state") && words.contains("terraform_data.first"),
                "{command}: {words}"
            );
            assert!(words.contains(&*kept.to_string_lossy()), "{words}");
            wait_for("what is left is kept", async || kept.join("main.tf").exists().then_some(())).await;
            assert!(world.workspace("net").await.locked, "{command}");
            assert_eq!(world.run(&next).await.state_name(), "Pending", "it would make everything again");
        }
    }
}

#[tokio::test]
async fn a_state_that_was_given_and_is_gone_is_missed_also_by_an_apply_that_changed_nothing() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    world.reaches(&run, "Applied").await;
    std::fs::write(
        world.source("net").join("more.tf"),
        "resource \"terraform_data\" \"more\" {\n  provisioner \"local-exec\" {\n    command = \"rm terraform.tfstate; exit 1\"\n  }\n}\n",
    )
    .unwrap();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    let run = world.reaches(&run, "Apply Errored").await;
    assert!(run.error().unwrap().contains("the state that terraform was given is gone"), "{:?}", run.error());
    assert!(world.workspace("net").await.locked);
    // what was current is current
    assert_eq!(world.resources("net").await, ["terraform_data.thing"]);
}

#[tokio::test]
async fn an_update_that_comes_out_as_what_was_there_is_no_doubt() {
    // not known while it is planned, and the same again when it is applied
    let main = "resource \"terraform_data\" \"clock\" {\n  input = formatdate(\"YYYY\", timestamp())\n}\n";
    let world = Setup::new().workspace("net", main).start();
    for _ in 0..2 {
        let run = world.queue_as("operator", "net", auto_apply()).await;
        let run = world.reaches(&run, "Applied").await;
        assert_eq!(run.error(), None);
    }
    assert!(!world.workspace("net").await.locked);
}

#[tokio::test]
async fn a_state_of_before_that_was_put_back_is_not_taken_for_the_one_that_was_given() {
    let main = |text: &str, command: &str| {
        format!(
            "resource \"terraform_data\" \"thing\" {{\n  input = \"{text}\"\n}}\n\
             resource \"terraform_data\" \"meddler\" {{\n  depends_on = [terraform_data.thing]\n  \
             triggers_replace = \"{text}\"\n  provisioner \"local-exec\" {{\n    command = \"{command}\"\n  }}\n}}\n"
        )
    };
    // what code of a run sees beside its own is for another test
    let world = Setup::new().server("isolation = \"off\"").workspace("net", &main("first", "true")).start();
    let apply = async |text: &str, command: &str, end: &str| {
        std::fs::write(world.source("net").join("main.tf"), main(text, command)).unwrap();
        let run = world.queue_as("operator", "net", auto_apply()).await;
        world.reaches(&run, end).await
    };
    apply("first", "true", "Applied").await;
    let kept = world.path().join("kept.tfstate");
    let pulled = world.cli("admin").args(["state", "pull", "net"]).output().unwrap();
    std::fs::write(&kept, pulled.stdout).unwrap();
    apply("second", "true", "Applied").await;
    let put_back = format!("cp {} terraform.tfstate; kill -9 $PPID", kept.display());
    let run = apply("third", &put_back, "Apply Errored").await;
    assert!(run.error().unwrap().contains("not the state that terraform was given"), "{:?}", run.error());
    assert!(world.workspace("net").await.locked);
}

#[tokio::test]
async fn a_terraform_that_is_killed_before_it_does_anything_leaves_no_doubt() {
    let script = "case \" $* \" in *\" apply \"*) kill -9 $$;; esac";
    let world = Setup::new().workspace_with_script("net", terraform::SIMPLE, script).start();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    let run = world.reaches(&run, "Apply Errored").await;
    let words = run.error().unwrap_or_default();
    assert!(
        words.starts_with("terraform apply was killed by signal 9") && !words.contains("state"),
        "{words}"
    );
    assert!(!world.workspace("net").await.locked, "nothing was made");
}

#[tokio::test]
async fn a_terraform_that_is_killed_at_work_says_at_what() {
    let world = Setup::new().workspace("net", &meddler("rm -f terraform.tfstate; kill -9 $PPID")).start();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    let run = world.reaches(&run, "Apply Errored").await;
    let words = run.error().unwrap_or_default();
    assert!(words.contains("terraform left no state") && words.contains("terraform_data.meddler"), "{words}");
    assert!(!words.contains("look for it in the log"), "nothing was printed there: {words}");
    assert!(world.workspace("net").await.locked);
}

#[tokio::test]
async fn a_force_cancel_ends_a_run_whose_executor_does_not_answer() {
    let (world, run, _gate) = Setup::new().server("cancel_grace = \"1h\"").applying().await;
    let executor = world.executor(&run, Stage::Apply);
    kill_process(Pid::from_raw(executor.cast_signed()).unwrap(), Signal::STOP).unwrap();
    world.cancel(&run).await;
    force_cancel(&world, &run).await;
    let run = world.reaches(&run, "Canceled").await;
    assert!(run.error().is_some_and(|error| error.contains("it was killed or crashed")), "{:?}", run.error());
    world.assert_nothing_is_left();
    // the resource that was made before is not forgotten
    assert_eq!(world.resources("net").await, ["terraform_data.first"]);
}
#[tokio::test]
async fn a_state_whose_serial_is_the_greatest_that_terraform_knows_gets_nothing_stuck() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    world.reaches(&run, "Applied").await;
    for serial in [i64::MAX as u64 - 1, i64::MAX as u64 + 10, u64::MAX - 10] {
        let mut state = world.state("net").await.unwrap();
        state["serial"] = serial.into();
        let file = world.path().join("state.json");
        std::fs::write(&file, state.to_string()).unwrap();
        for arguments in [
            ["workspace", "lock", "net", ""],
            ["state", "push", "net", file.to_str().unwrap()],
            ["workspace", "unlock", "net", ""],
        ] {
            let arguments = arguments.iter().filter(|argument| !argument.is_empty());
            let done = world.cli("admin").args(arguments).output().unwrap();
            assert!(done.status.success(), "{serial}: {}", String::from_utf8_lossy(&done.stderr));
        }
        let run = client::NewRun {
            variables: vec![client::RunVariable { key: "size".into(), value: format!("\"{serial}\"") }],
            ..auto_apply()
        };
        let run = world.queue_as("operator", "net", run).await;
        let run = world.reaches(&run, "Applied").await;
        assert_eq!(run.error(), None, "{serial}");
        assert!(world.state("net").await.unwrap()["serial"].as_u64() > Some(serial));
    }
}
