//! Code that runs for a workspace sees its run, and nothing of the daemon or of other runs, whoever the daemon runs as.

use std::path::Path;

use client::{Run, Stage};

use crate::support::{Gate, Setup, World, auto_apply, terraform};

const SECRET: &str = "t0p-secret-of-the-other";

/// What a local-exec tries. Each prints `ESCAPED` and what it got if it gets anywhere.
fn attempts(world: &World, other: &Run) -> Vec<(&'static str, String)> {
    let daemon = world.daemon().pid();
    let data = world.data_dir();
    let data = data.display();
    let config = world.config_file();
    let config = config.display();
    let other_run = format!("{data}/runs/{}", other.id);
    let executor = world.executor(other, Stage::Apply);
    let read = |path: String| format!("head -c 200 {path}");
    let of = |pid: u32, file: &str| read(format!("/proc/{pid}/{file}"));
    vec![
        ("the daemon's environment", of(daemon, "environ")),
        ("the daemon's memory map", of(daemon, "maps")),
        ("the daemon's memory", format!("dd if=/proc/{daemon}/mem bs=1 count=1 skip=4194304")),
        ("the daemon's open files", format!("cat /proc/{daemon}/fd/*")),
        ("the daemon's directory", format!("ls /proc/{daemon}/cwd/")),
        ("the daemon's root", format!("ls /proc/{daemon}/root/")),
        ("the daemon's stack", of(daemon, "stack")),
        ("an executor's environment", of(executor, "environ")),
        ("an executor's open files", format!("cat /proc/{executor}/fd/*")),
        (
            "every environment there is",
            format!("cat /proc/*/environ | tr '\\0' '\\n' | grep -a -e DAEMON_SECRET -e {SECRET}"),
        ),
        ("the database", read(format!("{data}/signalbox.db"))),
        ("its log", read(format!("{data}/signalbox.db-wal"))),
        ("the key of logs", read(format!("{data}/log-key"))),
        ("a blob", format!("cat {data}/blobs/*/*")),
        ("the list of runs", format!("ls {data}/runs | grep -v $TFC_RUN_ID")),
        ("another run's settings", read(format!("{other_run}/settings.json"))),
        ("another run's variables", read(format!("{other_run}/terraform/variables.tfvars.json"))),
        ("another run's plan", read(format!("{other_run}/terraform/plan.tfplan"))),
        (
            "another run's configuration",
            format!("cat {other_run}/work/main.tf {data}/work/*/main/main.tf | grep other-configuration"),
        ),
        ("another run's log", read(format!("{other_run}/apply/log"))),
        ("the config file", read(config.to_string())),
        ("the key of encryption", read(format!("{}", world.path().join("encryption.key").display()))),
        ("the ids of keys", read(format!("{data}/keys"))),
        ("the file of a secret", read(format!("{}", world.path().join("secret.txt").display()))),
        (
            "the tokens of the daemon's user",
            read(format!("{}", world.home().join(".config/signalbox/credentials.json").display())),
        ),
        ("the config file by a link", format!("ln -s {config} link && cat link")),
        ("the database by a link", format!("ln -s {data}/signalbox.db db-link && head -c 20 db-link")),
        ("the database by a hard link", format!("ln {data}/signalbox.db db && head -c 20 db")),
        ("the database by its new name", format!("mv {data}/signalbox.db moved && head -c 20 moved")),
        ("a place in the database's directory", format!("touch {data}/mine && ls {data}/mine")),
        ("a place in another run", format!("echo x > {other_run}/mine && cat {other_run}/mine")),
        ("what is below a mount", format!("umount {data} && head -c 20 {data}/signalbox.db")),
        ("a mount of one's own", format!("mkdir -p m && mount --bind {data} m && ls m/signalbox.db")),
        ("a new namespace", format!("unshare -m sh -c 'umount {data}; head -c 20 {data}/signalbox.db'")),
        (
            "a new user namespace",
            format!("unshare -U -r -m sh -c 'umount {data}; head -c 20 {data}/signalbox.db'"),
        ),
        ("the daemon's namespace", format!("nsenter -t {daemon} -m head -c 20 {data}/signalbox.db")),
        ("another root", format!("chroot /proc/{daemon}/root head -c 20 {data}/signalbox.db")),
        ("a signal to the daemon", format!("kill -0 {daemon} && echo reached")),
        ("an end of the daemon", format!("kill -TERM {daemon} && echo reached")),
        ("a signal to an executor", format!("kill -0 {executor} && echo reached")),
        ("an end of an executor", format!("kill -KILL {executor} && echo reached")),
        (
            "a signal to any executor, its own among them",
            "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline | grep -q ' executor ' && kill -0 ${p#/proc/} && echo reached; done"
                .to_owned(),
        ),
        (
            "a request to an executor",
            format!(
                "python3 -c 'import socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\ns.send(b\"{{\\\"request\\\":\\\"kill\\\"}}\\n\")\nr=s.recv(4096)\nprint(r) if b\"accepted\" in r else None' {other_run}/apply/control.sock"
            ),
        ),
        (
            "a debugger",
            format!(
                "python3 -c 'import ctypes,sys\nl=ctypes.CDLL(None,use_errno=True)\nprint(\"attached\") if l.ptrace(16,int(sys.argv[1]),0,0)==0 else None' {daemon}"
            ),
        ),
        ("a disk", "for d in /dev/[svx]d[a-z] /dev/nvme*n1; do head -c 16 $d; done".to_owned()),
        ("the memory of the machine", "head -c 16 /proc/kcore; head -c 16 /dev/mem".to_owned()),
        ("a device of one's own", "mknod disk b 254 0 && head -c 16 disk".to_owned()),
        ("the keys of the machine", "echo h > /proc/sysrq-trigger && echo written".to_owned()),
        ("a setting of the kernel", "echo 1 > /proc/sys/kernel/core_uses_pid && echo written".to_owned()),
        ("a program of the system", "touch /usr/bin/env-of-mine && echo written".to_owned()),
        ("a password file", "echo >> /etc/passwd && echo written".to_owned()),
    ]
}

/// As in a container: nothing can be mounted, so what is hidden is left out by the kernel alone.
fn start_where_nothing_can_be_mounted(setup: Setup) -> World {
    std::thread::scope(|scope| {
        let starting = scope.spawn(|| {
            use landlock::{
                AccessFs, PathBeneath, PathFd, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _,
            };
            // whoever is confined mounts nothing; everything else goes on
            let rules = Ruleset::default().handle_access(AccessFs::MakeBlock | AccessFs::Refer).unwrap();
            let root = PathBeneath::new(PathFd::new("/").unwrap(), AccessFs::Refer);
            rules.create().unwrap().add_rule(root).unwrap().restrict_self().unwrap();
            setup.start()
        });
        starting.join().unwrap()
    })
}

/// A workspace whose apply waits, with secrets of its own, while another one tries to get at them.
async fn nothing_is_reached(setup: Setup, start: impl FnOnce(Setup) -> World) {
    // beside the data directory nothing new can be made where nothing can be mounted
    let gates = setup.path().join("gates");
    std::fs::create_dir(&gates).unwrap();
    let gate = Gate::new(&gates, "other");
    for (name, content) in
        [("encryption.key", seal::Key::generate().unwrap()), ("secret.txt", SECRET.to_owned())]
    {
        let path = setup.path().join(name);
        std::fs::write(&path, content).unwrap();
        // whoever the daemon runs as, its user can read it
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    }
    let kept = setup.path().join("home/.config/signalbox");
    std::fs::create_dir_all(&kept).unwrap();
    std::fs::write(kept.join("credentials.json"), SECRET).unwrap();
    let setup = setup.server("encryption_key = file(\"./encryption.key\")");
    let other = format!("# other-configuration\n{}", terraform::gated_apply(&gate));
    let mut world = start(
        setup
            .workspace_with(
                "other",
                &format!("{other}\nvariable \"secret\" {{ type = string }}\n"),
                |workspace| {
                    workspace
                        .with("sensitive_variables = { secret = file(\"./secret.txt\") }")
                        .with(&format!("sensitive_environment = {{ SECRET = {SECRET:?} }}"))
                },
            )
            .workspace("attacker", "# written below\n"),
    );
    let run = world.queue_as("operator", "other", auto_apply()).await;
    gate.reached().await;
    let attempts = attempts(&world, &run);
    let mut script = "exec 2>&1\n".to_owned();
    for (number, (_, attempt)) in attempts.iter().enumerate() {
        std::fs::write(world.source("attacker").join(format!("attempt-{number}.sh")), attempt).unwrap();
        script += &format!(
            "got=$(timeout 5 sh ./attempt-{number}.sh 2>/dev/null | tr -d '\\000' | head -c 300); test -z \"$got\" || echo \"ESCAPED {number} $got\"\n"
        );
    }
    script += "echo all was tried\n";
    std::fs::write(world.source("attacker").join("attack.sh"), script).unwrap();
    std::fs::write(
        world.source("attacker").join("main.tf"),
        "resource \"terraform_data\" \"attack\" {\n  provisioner \"local-exec\" {\n    command = \"sh ./attack.sh\"\n  }\n}\n",
    )
    .unwrap();
    let attacker = world.queue_as("operator", "attacker", auto_apply()).await;
    let attacker = world.reaches(&attacker, "Applied").await;
    let log = world.log(&attacker, Stage::Apply).await;
    assert!(log.contains("all was tried"), "{log}");
    let reached: Vec<_> = log
        .lines()
        .filter_map(|line| line.split_once("ESCAPED "))
        .map(|(_, rest)| {
            let number = rest.split(' ').next().and_then(|number| number.parse::<usize>().ok());
            (number.and_then(|number| attempts.get(number)).map(|(what, _)| *what), rest)
        })
        .collect();
    assert!(reached.is_empty(), "{reached:#?}");
    // and the other run has come to no harm
    gate.open();
    world.reaches(&run, "Applied").await;
    world.kill_daemon();
}

#[tokio::test]
async fn code_of_a_run_reaches_nothing_of_the_daemon_or_of_other_runs() {
    nothing_is_reached(Setup::new(), Setup::start).await;
}

#[tokio::test]
async fn code_of_a_run_of_an_ordinary_user_reaches_nothing_of_the_daemon_or_of_other_runs() {
    nothing_is_reached(Setup::new(), Setup::start_as_nobody).await;
}

#[tokio::test]
async fn code_of_a_run_reaches_nothing_where_nothing_can_be_mounted() {
    nothing_is_reached(Setup::new(), start_where_nothing_can_be_mounted).await;
}

/// Does much of what configurations do.
fn everyday(outside: &Path) -> String {
    format!(
        r#"
resource "terraform_data" "everyday" {{
  input = filesha256("${{path.module}}/main.tf")
  provisioner "local-exec" {{
    command = <<-END
      set -e
      echo x > beside.txt
      mkdir -p a/b
      mv beside.txt a/b/
      ln -s b/beside.txt a/link
      cat a/link
      t=$(mktemp)
      echo y > $t
      rm $t
      echo out > {outside}/written-by-the-run
      cat /etc/hostname > /dev/null; ls $HOME > /dev/null; ls /proc/self > /dev/null; id > /dev/null
      python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("plugin.sock")'
      git init --quiet repository
      git -C repository -c user.name=a -c user.email=a@b commit --quiet --allow-empty -m first
      sleep 100 & kill $!
      echo everything works
    END
  }}
}}
"#,
        outside = outside.display()
    )
}

async fn everyday_things_work(setup: Setup, start: impl FnOnce(Setup) -> World) {
    let outside = setup.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    // beside the data directory, which is where a test has it, nothing new can be made where nothing can be mounted
    let temporary = format!("environment = {{ TMPDIR = {outside:?} }}");
    let world =
        start(setup.workspace_with("net", &everyday(&outside), |workspace| workspace.with(&temporary)));
    let run = world.queue_as("operator", "net", auto_apply()).await;
    let run = world.reaches(&run, "Applied").await;
    let log = world.log(&run, Stage::Apply).await;
    assert!(log.contains("everything works"), "{log}");
    assert_eq!(std::fs::read_to_string(outside.join("written-by-the-run")).unwrap(), "out\n");
    world.assert_nothing_is_left();
}

#[tokio::test]
async fn everyday_things_work_in_isolation() {
    everyday_things_work(Setup::new(), Setup::start).await;
}

#[tokio::test]
async fn everyday_things_work_in_isolation_for_an_ordinary_user() {
    everyday_things_work(Setup::new(), Setup::start_as_nobody).await;
}

#[tokio::test]
async fn everyday_things_work_in_isolation_where_nothing_can_be_mounted() {
    everyday_things_work(Setup::new(), start_where_nothing_can_be_mounted).await;
}

#[tokio::test]
async fn a_folder_without_rights_is_cleaned_up_after_for_an_ordinary_user_and_nothing_spins() {
    let main = r#"
resource "terraform_data" "locked" {
  provisioner "local-exec" {
    command = "mkdir -p .cache/m && echo x > .cache/m/f && chmod -R a-w .cache/m && chmod 000 .cache"
  }
}
"#;
    let world = Setup::new().workspace("net", main).start_as_nobody();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    world.reaches(&run, "Applied").await;
    let directory = world.data_dir().join("runs").join(&run.id);
    crate::support::wait_for("nothing is left of the run", async || {
        let left = ["settings.json", "work", "terraform"].iter().any(|name| directory.join(name).exists());
        (!left).then_some(())
    })
    .await;
    let next = world.queue("net").await;
    world.reaches(&next, "No Changes").await;
    assert!(!world.daemon().log().contains("can't"), "{}", world.daemon().log());
}
