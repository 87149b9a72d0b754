//! `signalbox sentinel apply`.

use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;

use super::{Desk, Done, GOOD, policies};

#[test]
fn apply_evaluates_one_policy() {
    let desk = policies();
    assert_eq!(desk.run("apply few.sentinel").ended(0).out, "Pass - few.sentinel\n");
    desk.run("apply -trace few.sentinel").ended(0).shown("TRUE - few.sentinel:4:1 - Rule \"few\"");
    desk.run("apply -param limit=7 few.sentinel")
        .ended(1)
        .shown("Fail - few.sentinel\n")
        .shown("FALSE - few.sentinel:4:1 - Rule \"few\"");
    let json = desk.run("apply -json -param=limit=7 few.sentinel").ended(1).json();
    assert_eq!(json["result"], false);
    assert_eq!(json["policies"][0]["trace"]["rules"]["few"]["value"], false);
    desk.run("apply -param limits=7 few.sentinel")
        .ended(2)
        .said("the policy has no parameter `limits`")
        .said("it has limit");
    desk.run("apply gone.sentinel").ended(2).said("cannot read `gone.sentinel`");
    desk.run("apply -config=gone.hcl few.sentinel").ended(2).said("cannot read `gone.hcl`");
    desk.run("apply").ended(2).said("there is no policy to evaluate");
    desk.write(
        "net.sentinel",
        "import \"http\"\nmain = rule { http.get(\"https://example.com\").status_code is 200 }\n",
    );
    desk.run("apply net.sentinel").ended(1).shown("no host may be reached").shown("--http-host allows one");
    desk.run("apply -http-host=elsewhere.example net.sentinel").ended(1).shown("is none of");
    desk.run("apply -http-host=https://example.com/ net.sentinel").ended(2).said("not a host");
}

#[test]
fn a_policy_reaches_the_hosts_that_are_named() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let answering = std::thread::spawn(move || {
        for _ in 0..2 {
            let (mut stream, _) = server.accept().unwrap();
            let mut request = [0; 1024];
            let _ = stream.read(&mut request).unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok").unwrap();
        }
    });
    let policy =
        format!("import \"http\"\nmain = rule {{ http.get(\"http://{address}/\").body is \"ok\" }}\n");
    let desk = Desk::new(&[("net.sentinel", &policy), ("test/net/case.hcl", GOOD)]);
    desk.run(&format!("apply -http-host={address} net.sentinel")).ended(0);
    desk.run(&format!("test -http-host={address}")).ended(0);
    answering.join().unwrap();
    desk.run("test").ended(1).shown("no host may be reached");
    desk.write("remote.sentinel", "import \"m\"\nmain = m.x\n");
    desk.write("test/remote/a.hcl", "module \"m\" {\n  source = \"http://example.com/m.sentinel\"\n}\n");
    desk.run("test remote.sentinel").ended(1).shown("is not fetched over https").shown("checksum=sha256");
}

#[test]
fn apply_takes_its_configuration_from_where_it_is_said() {
    let desk = policies();
    desk.write(
        "set/sentinel.hcl",
        "policy \"few\" {\n  source = \"../few.sentinel\"\n  enforcement_level = \"hard-mandatory\"\n}\n\
         policy \"own\" {}\nparam \"limit\" {\n  value = 9\n}\nglobal \"word\" {\n  value = \"a\"\n}\n",
    );
    desk.write("set/own.sentinel", "main = rule { word is \"b\" }\n");
    for config in ["set", "set/sentinel.hcl"] {
        desk.run(&format!("apply -config={config} few")).ended(1).shown("Fail - few");
        desk.run(&format!("apply -config={config} -param limit=1 few")).ended(0);
        desk.run(&format!("apply -config {config} -global word=b own")).ended(0);
        // relative to where one stands, since it is not a name of the configuration
        desk.run(&format!("apply -config={config} few.sentinel")).ended(1);
    }
    desk.run("apply -config=set")
        .ended(1)
        .shown("Fail - few (hard-mandatory)\nFail - own (advisory)\n")
        .shown("Sentinel Result: false");
    desk.run("apply -config=set -param limit=1")
        .ended(0)
        .shown("Pass - few (hard-mandatory)\nFail - own (advisory)");
    let json = desk.run("apply -config=set -json").ended(1).json();
    assert_eq!(json["policies"][0]["policy"], "few");
    // the one of the working directory needs not be named
    let done = Done::of(desk.command("apply few").current_dir(desk.path("set"))).ended(1);
    assert!(done.out.contains("FALSE - ../few.sentinel:5:1"), "{}", done.out);
    desk.write("broken.hcl", "policy \"few\" {\n  enforcement_level = \"hard\"\n}\n");
    desk.run("apply -config=broken.hcl few").ended(2).said("--> broken.hcl:2:");
}

#[test]
fn apply_refuses_parameters_of_its_options_that_no_policy_has() {
    let desk = policies();
    desk.write("good.hcl", "policy \"few\" {}\npolicy \"other\" {}\n");
    desk.run("apply -config=good.hcl -param limit=7").ended(0).shown("Fail - few");
    desk.run("apply -config=good.hcl -param limits=7").ended(2).said("no policy has a parameter `limits`");
    desk.run("apply -config=good.hcl -param limits=7 few")
        .ended(2)
        .said("the policy has no parameter `limits`");
}

/// Published sets have such values, and the reference runs them.
#[test]
fn apply_warns_of_parameters_of_the_configuration_that_no_policy_has() {
    let desk = policies();
    desk.write("own.hcl", "policy \"few\" {\n  params = { limits = 7 }\n}\n");
    desk.write("all.hcl", "policy \"few\" {}\npolicy \"other\" {}\nparam \"limits\" {\n  value = 7\n}\n");
    for (config, name, warning) in [
        ("own.hcl", "few", "own.hcl:2:3: the policy has no parameter `limits`; did you mean `limit`?"),
        ("all.hcl", "few", "all.hcl:3:1: no policy has a parameter `limits`; did you mean `limit`?"),
        ("all.hcl", "other", "all.hcl:3:1: no policy has a parameter `limits`; did you mean `limit`?"),
        ("all.hcl", "few.sentinel", "all.hcl:3:1: no policy has a parameter `limits`; did you mean `limit`?"),
    ] {
        for line in [format!("apply -config={config}"), format!("apply -config={config} {name}")] {
            desk.run(&line).ended(0).shown("Pass - ").said(&format!("warning: {warning}\n"));
            let done = desk.run(&format!("{line} -json")).ended(0);
            assert_eq!((done.json()["warnings"].clone(), &*done.err), (serde_json::json!([warning]), ""));
        }
    }
    // one of another policy is none too many
    desk.write("all.hcl", "policy \"few\" {}\npolicy \"other\" {}\nparam \"limit\" {\n  value = 2\n}\n");
    assert_eq!(desk.run("apply -config=all.hcl other").ended(0).err, "");
}

#[test]
fn apply_as_json_has_the_reference_form_for_one_policy_and_for_all() {
    let desk = policies();
    desk.write("sentinel.hcl", "policy \"few\" {\n  enforcement_level = \"soft-mandatory\"\n}\n");
    desk.write("odd.hcl", "import \"plugin\" \"p\" {\n  source = \"/bin/p\"\n}\n");
    for line in ["apply -json", "apply -json few", "apply -json few.sentinel"] {
        let json = desk.run(line).ended(0).json();
        let members: Vec<_> = json.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(members, ["duration", "error", "policies", "result", "warnings"], "{line}");
        assert_eq!(json["result"], true);
        assert_eq!(json["policies"][0]["result"], true);
        assert_eq!(json["policies"][0]["trace"]["rules"]["few"]["value"], true);
        assert!(json["warnings"][0].as_str().unwrap().contains("programs are not run"), "{json}");
    }
    let levels = |line: &str| desk.run(line).ended(1).json()["policies"][0]["enforcement_level"].clone();
    assert_eq!(levels("apply -json -param limit=7"), "soft-mandatory");
    assert_eq!(levels("apply -json -param limit=7 few"), "soft-mandatory");
    assert_eq!(levels("apply -json -param limit=7 few.sentinel"), "advisory");
    // of one policy the result is its own: its level is for a set
    assert_eq!(desk.run("apply -json -param limit=7 few.sentinel").json()["result"], false);

    desk.write("broken.sentinel", "main = \n");
    for (line, code, error) in [
        ("apply -json broken.sentinel", 1, "broken.sentinel:2:1: expected an expression"),
        ("apply -json gone.sentinel", 2, "cannot read `gone.sentinel`"),
        ("apply -json -param x=1 few.sentinel", 2, "the policy has no parameter `x`"),
    ] {
        let json = desk.run(line).ended(code).said(error).json();
        assert!(json["error"].as_str().unwrap().contains(error), "{json}");
        assert_eq!((&json["result"], &json["policies"]), (&false.into(), &serde_json::json!([])));
    }
}

/// The reference takes sources as relative to the working directory.
#[test]
fn what_is_not_beside_the_configuration_is_in_the_working_directory() {
    let desk = Desk::new(&[
        (
            "etc/c.hcl",
            "policy \"p\" {\n  source = \"p.sentinel\"\n}\nmodule \"m\" {\n  source = \"m.sentinel\"\n}\n",
        ),
        ("p.sentinel", "import \"m\"\nmain = rule { m.x is 1 }\n"),
        ("etc/m.sentinel", "x = 1\n"),
    ]);
    desk.run("apply -config=etc/c.hcl").ended(0);
    desk.run("apply -config=etc/c.hcl p").ended(0);
    desk.run("apply -config=etc/c.hcl p.sentinel").ended(0);
    desk.write("m.sentinel", "x = 2\n");
    desk.run("apply -config=etc/c.hcl")
        .ended(2)
        .said("`m.sentinel` is `etc/m.sentinel` beside the configuration and `m.sentinel` in the working directory")
        .said("--> etc/c.hcl:5:3");
    std::fs::remove_file(desk.path("m.sentinel")).unwrap();
    std::os::unix::fs::symlink("etc/m.sentinel", desk.path("m.sentinel")).unwrap();
    desk.run("apply -config=etc/c.hcl").ended(0);
    std::fs::remove_file(desk.path("p.sentinel")).unwrap();
    desk.run("apply -config=etc/c.hcl").ended(0).shown("cannot read `etc/p.sentinel`");
}

/// Which one is meant matters only if they differ.
#[test]
fn of_two_files_that_are_not_two_policies_the_one_beside_the_configuration_counts() {
    let desk = Desk::new(&[
        ("etc/c.hcl", "policy \"p\" {\n  source = \"p.sentinel\"\n}\n"),
        ("etc/p.sentinel", "main = true\n"),
        ("p.sentinel", "main = true\n"),
    ]);
    desk.run("apply -config=etc/c.hcl").ended(0).shown("Pass - p");
    std::fs::remove_file(desk.path("p.sentinel")).unwrap();
    desk.write("p.sentinel/a.sentinel", "main = false\n");
    desk.run("apply -config=etc/c.hcl").ended(0).shown("Pass - p");
}

#[test]
fn what_cannot_be_read_beside_the_configuration_is_not_taken_from_the_working_directory() {
    let desk = Desk::new(&[
        ("etc/c.hcl", "policy \"p\" {\n  source = \"p.sentinel\"\n}\n"),
        ("p.sentinel", "main = true\n"),
    ]);
    std::os::unix::fs::symlink("gone", desk.path("etc/p.sentinel")).unwrap();
    desk.run("apply -config=etc/c.hcl").shown("Fail - p").shown("cannot read `etc/p.sentinel`");
    desk.run("apply -config=etc/c.hcl p").ended(2).said("cannot read `etc/p.sentinel`");
}

/// In a source `::` makes a URL of it, and what is behind `?` is a sum.
#[test]
fn folders_may_have_any_name() {
    for folder in ["a::b", "q?x", "u:/x"] {
        let desk = Desk::new(&[
            ("c.hcl", "policy \"p\" {}\nmodule \"m\" {\n  source = \"m.sentinel\"\n}\n"),
            ("m.sentinel", "x = 1\n"),
            ("p.sentinel", "import \"m\"\nmain = rule { m.x is 1 }\n"),
            ("test/p/a.hcl", "module \"m\" {\n  source = \"../../m.sentinel\"\n}\n"),
        ]);
        std::fs::create_dir_all(desk.path(folder)).unwrap();
        for name in ["c.hcl", "m.sentinel", "p.sentinel", "test"] {
            std::fs::rename(desk.path(name), desk.path(folder).join(name)).unwrap();
        }
        for line in ["apply -config=FOLDER/c.hcl", "apply -config=FOLDER", "test FOLDER"] {
            desk.run(&line.replace("FOLDER", folder)).ended(0).shown("p");
        }
        desk.run(&format!("apply -config={folder} {folder}/p.sentinel")).ended(0);
    }
}

#[test]
fn the_environment_gives_parameters_too() {
    let desk = policies();
    desk.write("sentinel.hcl", "policy \"few\" {\n  params = { limit = 1 }\n}\n");
    let given = |line: &str| {
        let mut command = desk.command(line);
        Done::of(command.env("SENTINEL_PARAM_limit", "7").env("SENTINEL_PARAM_of_another", "x"))
    };
    given("apply few.sentinel").ended(1);
    given("apply few").ended(1);
    given("apply").ended(0).shown("Fail - few (advisory)");
    given("apply -param limit=1 few").ended(0);
    let mut command = desk.command("apply few");
    Done::of(command.env("SENTINEL_PARAM_limit", std::ffi::OsStr::from_bytes(b"7\xff")))
        .ended(2)
        .said("the environment variable SENTINEL_PARAM_limit is not UTF-8");
}

#[test]
fn apply_says_what_to_do_instead() {
    let desk = policies();
    desk.run("apply .").ended(2).said(". is a folder, and no policy").said("apply -config=.");
    desk.write("needs.sentinel", "param n\nmain = n is 1\n");
    desk.run("apply needs.sentinel").ended(1).shown("the parameter `n` has no value").said("-param n=…");
    desk.run("apply -param n=1 needs.sentinel").ended(0);
    desk.run("apply -nonsense few.sentinel").ended(2).said("unexpected argument '-nonsense' found");
}
