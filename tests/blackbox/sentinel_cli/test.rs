//! `signalbox sentinel test`.

use serde_json::Value;

use super::{Desk, Done, GOOD, policies};

#[test]
fn test_runs_the_cases_of_every_policy_and_fails_with_a_trace() {
    let done = policies().run("test").ended(1).said("2 passed, 1 failed");
    let expected = "\
FAIL - few.sentinel
  FAIL - test/few/bad.hcl
    expected \"main\" to be true, got: false

    trace:
      FALSE - few.sentinel:5:1 - Rule \"main\"
        Value:
          false

      FALSE - few.sentinel:4:1 - Rule \"few\"
        Description:
          Few are few.

        Value:
          false

  PASS - test/few/good.hcl
PASS - other.sentinel
  PASS - test/other/old.json
";
    assert_eq!(done.out, expected);
}

#[test]
fn test_runs_what_it_is_asked_for_as_the_reference_is_asked() {
    let desk = policies();
    let good = "PASS - few.sentinel\n  PASS - test/few/good.hcl\n";
    assert_eq!(desk.run("test -run=few/good").ended(0).out, good);
    assert_eq!(desk.run("test --run ^few$/^good$ few.sentinel").ended(0).out, good);
    desk.run("test -run /old -verbose .").ended(0).shown("Rule \"main\"");
    let parent = desk.path("..").canonicalize().unwrap();
    let done = Done::of(desk.command("test work").current_dir(&parent)).ended(1);
    assert!(done.out.contains("FAIL - work/test/few/bad.hcl"), "{}", done.out);
    let json = desk.run("test -json").ended(1).json();
    let case = &json["policies"]["few.sentinel"]["cases"]["test/few/bad.hcl"];
    assert_eq!(case["status"], "FAIL");
    assert_eq!(case["rule_detail"]["main"]["expected"], true);
    assert_eq!(case["trace"]["rules"]["few"]["position"]["line"], 4);
    let coloured = desk.run("test --color always -run=few/good").ended(0).out;
    assert_eq!(coloured, good.replace("PASS", "\u{1b}[32mPASS\u{1b}[0m"));
}

#[test]
fn modules_may_lie_anywhere_in_ones_own_files() {
    let desk = Desk::new(&[
        ("p.sentinel", "import \"m\"\nmain = rule { m.one is 1 }\n"),
        ("test/p/a.hcl", "module \"m\" {\n  source = \"../../../shared/m.sentinel\"\n}\n"),
        ("../shared/m.sentinel", "one = 1\n"),
    ]);
    desk.run("test").ended(0);
    let absolute = desk.path("p.sentinel");
    desk.run(&format!("test {}", absolute.display())).ended(0).shown("PASS");
}

#[test]
fn a_test_run_that_tests_nothing_is_no_success() {
    let desk = policies();
    desk.write("empty/notes.txt", "");
    desk.run("test empty").ended(2).said("there is no policy in empty").said("end with .sentinel");
    desk.run("test nowhere").ended(2).said("cannot list `nowhere`");
    desk.run("test gone.sentinel").ended(2).said("cannot read `gone.sentinel`");
    desk.run("test -run=nobody").ended(2).said("no policy and no case matches `nobody`");
    desk.run("test -run=/nothing").ended(2).said("no policy and no case matches `/nothing`");
    desk.run("test -run=(").ended(2).said("error: `(` is not a regular expression: unclosed group\n");
    let said: Value = serde_json::from_str(&desk.run("test --json nowhere").ended(2).err).unwrap();
    assert!(said["error"].as_str().unwrap().contains("nowhere"));
    // the reference's answer to a policy that nobody has tested yet
    desk.write("new/p.sentinel", "main = true\n");
    desk.run("test new").ended(0).shown("? - new/p.sentinel [no test files]").said("no test cases");
}

#[test]
fn options_are_switched_as_the_reference_is() {
    let desk = policies();
    desk.run("test --verbose=true few/good.sentinel").ended(2);
    desk.run("test -run=few/good --verbose=true").ended(0).shown("Rule \"main\"");
    desk.run("test -run=few/good -verbose=0 -json=F").ended(0);
    assert!(desk.run("test -run=few/good -json=1").ended(0).json().is_object());
    desk.run("test -color few.sentinel -run=few/good").ended(0).shown("\u{1b}[32mPASS\u{1b}[0m");
}

#[test]
fn a_case_may_take_as_long_as_is_said() {
    let desk = Desk::new(&[
        ("p.sentinel", "l = range(5000)\nx = 0\nfor l as i { for l as j { x = x + 1 } }\nmain = true\n"),
        ("test/p/a.hcl", ""),
    ]);
    desk.run("test -timeout=1ms").ended(1).shown("the policy ran longer than 0.001 seconds");
    desk.run("test -timeout=5").ended(2).said("it is written as 30s, 5m or 1m30s");
    desk.run("test -timeout=0s").ended(2);
    policies().run("test -timeout 1m30s other.sentinel").ended(0);
}

#[test]
fn the_time_of_a_case_is_that_of_its_requests_too() {
    // it takes connections, and never answers
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let policy = format!("import \"http\"\nmain = rule {{ http.get(\"http://{address}/\").body is \"\" }}\n");
    let desk = Desk::new(&[("net.sentinel", &policy), ("test/net/case.hcl", GOOD)]);
    let start = std::time::Instant::now();
    desk.run(&format!("test -timeout=100ms -http-host={address}")).ended(1).said("1 could not be run");
    // a request by itself has ten seconds
    assert!(start.elapsed() < std::time::Duration::from_secs(8), "{:?}", start.elapsed());
}
