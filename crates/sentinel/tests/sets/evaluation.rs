//! Policy sets: loading, evaluation, outcomes, the log.

use std::collections::HashMap;
use std::sync::Arc;

use sentinel::{Counts, Data, EnforcementLevel, Inputs, Limits, Outcome, PolicySet, Secrets, SetOutcome};

use crate::support::{MemFiles, host};

fn evaluate_with(files: &[(&str, &str)], inputs: &Inputs) -> SetOutcome {
    let set = PolicySet::load(&MemFiles::new(files), "").unwrap();
    set.evaluate(inputs, Limits::default(), &host())
}

fn evaluate(files: &[(&str, &str)]) -> SetOutcome {
    evaluate_with(files, &Inputs::default())
}

const LEVELS: &str = "policy \"a\" { enforcement_level = \"advisory\" }\npolicy \"s\" { enforcement_level = \"soft-mandatory\" }\npolicy \"h\" { enforcement_level = \"hard-mandatory\" }";

fn levels(a: &str, s: &str, h: &str) -> SetOutcome {
    evaluate(&[("sentinel.hcl", LEVELS), ("a.sentinel", a), ("s.sentinel", s), ("h.sentinel", h)])
}

const PASS: &str = "main = rule { true }";
const FAIL: &str = "main = rule { false }";

#[test]
fn all_passed() {
    let outcome = levels(PASS, PASS, PASS);
    assert_eq!(outcome.counts(), Counts { passed: 3, ..Counts::default() });
    assert!(outcome.result() && !outcome.can_override());
}

#[test]
fn an_advisory_failure_does_not_fail_the_set() {
    let outcome = levels(FAIL, PASS, PASS);
    assert_eq!(
        outcome.counts(),
        Counts { passed: 2, total_failed: 1, advisory_failed: 1, ..Counts::default() }
    );
    assert!(outcome.result());
}

#[test]
fn a_soft_mandatory_failure_can_be_overridden() {
    let outcome = levels(FAIL, FAIL, PASS);
    assert!(!outcome.result() && outcome.can_override());
    assert_eq!(outcome.counts().soft_failed, 1);
}

#[test]
fn a_hard_mandatory_failure_cannot() {
    let outcome = levels(FAIL, FAIL, FAIL);
    assert!(!outcome.result() && !outcome.can_override());
    let counts = outcome.counts();
    assert_eq!(
        (counts.hard_failed, counts.soft_failed, counts.advisory_failed, counts.total_failed),
        (1, 1, 1, 3)
    );
}

#[test]
fn an_error_is_a_failure_at_the_level_of_the_policy() {
    let outcome = levels("main = 1 / 0", PASS, PASS);
    assert!(outcome.result());
    assert_eq!((outcome.counts().advisory_failed, outcome.counts().errored), (1, 1));
    let outcome = levels(PASS, PASS, "main = rule { {}.x }");
    assert!(!outcome.result());
    assert_eq!((outcome.counts().hard_failed, outcome.counts().errored), (1, 1));
}

#[test]
fn a_policy_that_cannot_be_compiled_fails_and_others_run() {
    let files = MemFiles::new(&[
        ("sentinel.hcl", LEVELS),
        ("a.sentinel", PASS),
        ("s.sentinel", PASS),
        ("h.sentinel", "main = "),
    ]);
    let set = PolicySet::load(&files, "").unwrap();
    let problems: Vec<_> = set.problems().map(|(name, error)| (name, error.to_string())).collect();
    assert_eq!(
        problems,
        [("h", "h.sentinel:1:8: expected an expression, found the end of the file".to_owned())]
    );
    let outcome = set.evaluate(&Inputs::default(), Limits::default(), &host());
    assert_eq!((outcome.counts().passed, outcome.counts().hard_failed), (2, 1));
    assert!(outcome.log().contains("--> h.sentinel:1:8"), "{}", outcome.log());
}

#[test]
fn a_policy_whose_file_is_missing_fails() {
    let outcome = evaluate(&[("sentinel.hcl", "policy \"gone\" { enforcement_level = \"hard-mandatory\" }")]);
    assert!(!outcome.result());
    assert!(
        matches!(&outcome.policies[0].evaluation.outcome, Outcome::Errored(error) if error.message().contains("cannot read `gone.sentinel`"))
    );
}

#[test]
fn only_policies_that_are_listed_run() {
    let outcome =
        evaluate(&[("sentinel.hcl", "policy \"a\" {}"), ("a.sentinel", PASS), ("b.sentinel", FAIL)]);
    assert_eq!(outcome.policies.len(), 1);
}

#[test]
fn other_files_beside_the_configuration_are_not_looked_at() {
    let outcome = evaluate(&[
        ("sentinel.hcl", "policy \"a\" {}"),
        ("old.sentinel.hcl", "not = even = hcl"),
        ("override.hcl", "policy \"a\" { enforcement_level = \"hard-mandatory\" }"),
        ("a.sentinel", PASS),
    ]);
    assert_eq!(outcome.policies[0].level, EnforcementLevel::Advisory);
}

#[test]
fn a_set_may_be_made_of_a_configuration() {
    let files = MemFiles::new(&[("a.sentinel", PASS), ("x.hcl", "policy \"a\" {}")]);
    let set = PolicySet::of(sentinel::load_config(&files, "").unwrap(), &files, "");
    assert!(set.evaluate(&Inputs::default(), Limits::default(), &host()).result());
}

#[test]
fn a_set_may_lie_in_a_folder() {
    let files = MemFiles::new(&[
        (
            "sets/net/sentinel.hcl",
            "policy \"a\" { source = \"./p/a.sentinel\" }\nmodule \"m\" { source = \"../../lib/m.sentinel\" }",
        ),
        ("sets/net/p/a.sentinel", "import \"m\"\nmain = m.ok"),
        ("lib/m.sentinel", "ok = true"),
    ]);
    let set = PolicySet::load(&files, "sets/net").unwrap();
    assert!(set.evaluate(&Inputs::default(), Limits::default(), &host()).result());
}

#[test]
fn policies_do_not_see_each_others_changes() {
    let module = "list = []\nadd = func() { append(list, 1)\nreturn length(list) }";
    let policy = "import \"m\"\nmain = rule { m.add() is 1 }";
    let outcome = evaluate(&[
        ("sentinel.hcl", "policy \"a\" {}\npolicy \"b\" {}\nmodule \"m\" { source = \"m.sentinel\" }"),
        ("m.sentinel", module),
        ("a.sentinel", policy),
        ("b.sentinel", policy),
    ]);
    assert_eq!(outcome.counts().passed, 2);
}

#[test]
fn params_come_from_the_file_the_policy_and_the_settings() {
    let files = [
        ("sentinel.hcl", "param \"x\" { value = 1 }\npolicy \"a\" {}\npolicy \"b\" { params = { x = 2 } }"),
        ("a.sentinel", "param x\nmain = rule { x is 1 }"),
        ("b.sentinel", "param x\nmain = rule { x is 2 }"),
    ];
    assert_eq!(evaluate(&files).counts().passed, 2);
    let inputs = Inputs { params: HashMap::from([("x".to_owned(), Data::Int(3))]), ..Inputs::default() };
    assert_eq!(evaluate_with(&files, &inputs).counts().passed, 0);
}

#[test]
fn imports_of_the_run_are_seen() {
    let inputs = Inputs {
        imports: vec![("tfrun".to_owned(), Arc::new(Data::map([("id", "run-1".into())])))],
        ..Inputs::default()
    };
    let files = [
        ("sentinel.hcl", "policy \"a\" {}"),
        ("a.sentinel", "import \"tfrun\"\nmain = rule { tfrun.id is \"run-1\" }"),
    ];
    assert!(evaluate_with(&files, &inputs).policies[0].evaluation.outcome.passed());
}

#[test]
fn a_plan_in_a_file_can_be_configured() {
    let outcome = evaluate(&[
        (
            "sentinel.hcl",
            "policy \"a\" {}\nimport \"plugin\" \"tfplan/v2\" { config = { \"plan_path\": \"./plan.json\" } }",
        ),
        ("plan.json", "{\"terraform_version\": \"1.11.4\", \"planned_values\": {}}"),
        ("a.sentinel", "import \"tfplan/v2\" as p\nmain = rule { p.terraform_version is \"1.11.4\" }"),
    ]);
    assert!(outcome.policies[0].evaluation.outcome.passed(), "{}", outcome.log());
}

/// Over such a document a policy finds nothing to object to, and would pass.
#[test]
fn what_is_no_plan_is_not_taken_for_one() {
    for (document, why) in [
        ("{}", "it has no `planned_values`"),
        ("[]", "it has no `planned_values`"),
        ("{\"planned_values\": null}", "it has no `planned_values`"),
        ("{\"version\": 4, \"resources\": []}", "it is a state, without `planned_values`"),
        ("{\"format_version\": \"1.0\", \"values\": {}}", "it is a state, without `planned_values`"),
    ] {
        let outcome = evaluate(&[
            (
                "sentinel.hcl",
                "policy \"a\" {}\nimport \"plugin\" \"tfplan/v2\" {\n  config = { plan_path = \"plan.json\" }\n}",
            ),
            ("plan.json", document),
            ("a.sentinel", "import \"tfplan/v2\" as p\nmain = rule { true }"),
        ]);
        let error = outcome.policies[0].evaluation.outcome.error().unwrap();
        assert_eq!(error.message(), format!("`plan.json` is not a plan: {why}"), "{document}");
        assert!(error.notes().iter().any(|note| note.contains("terraform show -json")), "{document}");
        assert_eq!(error.place().unwrap().position.line, 3, "{document}");
    }
}

#[test]
fn what_are_no_schemas_is_not_taken_for_them() {
    let config = "policy \"a\" {}\nimport \"plugin\" \"tfplan\" {\n  config = { plan_path = \"p.json\", schemas_path = \"s.json\" }\n}";
    let message = |schemas: &str| {
        let outcome = evaluate(&[
            ("sentinel.hcl", config),
            ("p.json", "{\"format_version\": \"1.2\", \"planned_values\": {}}"),
            ("s.json", schemas),
            ("a.sentinel", "import \"tfplan\"\nmain = rule { true }"),
        ]);
        outcome.policies[0].evaluation.outcome.error().map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(message("{\"format_version\": \"1.0\", \"provider_schemas\": {}}"), "");
    assert_eq!(message("{\"format_version\": \"1.0\"}"), "");
    assert_eq!(
        message("{\"format_version\": \"1.2\", \"planned_values\": {}}"),
        "sentinel.hcl:3:3: `s.json` is not a schema of providers: it has no `provider_schemas`"
    );
}

#[test]
fn remote_modules_are_https_with_a_sum() {
    let url = "https://example.com/m.sentinel";
    // the sha256 sum of "x = 1\n"
    let sum = "e2c1e4bb8b1f3e6f1b6f4c9a3d3d0c9b0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f";
    let load = |source: &str| {
        let mut files = MemFiles::new(&[
            ("sentinel.hcl", &format!("policy \"a\" {{}}\nmodule \"m\" {{ source = \"{source}\" }}")),
            ("a.sentinel", "import \"m\"\nmain = m.x is 1"),
        ]);
        files.remote.insert(url.to_owned(), "x = 1\n".to_owned());
        let set = PolicySet::load(&files, "").unwrap();
        let outcome = set.evaluate(&Inputs::default(), Limits::default(), &host());
        outcome.policies[0].evaluation.outcome.clone()
    };
    let message =
        |outcome: Outcome| outcome.error().map(|error| error.message().to_owned()).unwrap_or_default();
    assert!(message(load(url)).contains("has no checksum"));
    assert!(
        message(load("http://example.com/m.sentinel?checksum=sha256:00"))
            .contains("is not fetched over https")
    );
    assert!(message(load("git::https://example.com/m.git")).contains("is not fetched over https"));
    assert!(
        message(load(&format!("{url}?checksum=md5:d41d8cd98f00b204e9800998ecf8427e")))
            .contains("is not a sha256 sum")
    );
    let wrong = message(load(&format!("{url}?checksum=sha256:{sum}")));
    assert!(wrong.contains("the sha256 sum of https://example.com/m.sentinel is"), "{wrong}");
    let right = wrong.split(" is ").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    assert!(load(&format!("{url}?checksum=sha256:{right}")).passed());
}

#[test]
fn an_absolute_source_is_refused_as_such() {
    let outcome = evaluate(&[("sentinel.hcl", "policy \"a\" {\n  source = \"/etc/passwd\"\n}")]);
    let error = outcome.policies[0].evaluation.outcome.error().unwrap();
    assert_eq!(error.to_string(), "sentinel.hcl:2:3: the source `/etc/passwd` is absolute");
}

#[test]
fn static_data_may_begin_with_a_mark() {
    let config = "policy \"a\" {}\nimport \"static\" \"s\" {\n  source = \"s.json\"\n  format = \"json\"\n}";
    let outcome = evaluate(&[
        ("sentinel.hcl", config),
        ("s.json", "\u{feff}{\"x\": 1}"),
        ("a.sentinel", "import \"s\"\nmain = s.x is 1"),
    ]);
    assert!(outcome.policies[0].evaluation.outcome.passed());
}

#[test]
fn a_local_source_has_the_sum_that_it_names() {
    let message = |query: &str| {
        let outcome = evaluate(&[
            ("sentinel.hcl", &format!("policy \"a\" {{\n  source = \"a.sentinel{query}\"\n}}")),
            ("a.sentinel", "main = true"),
        ]);
        outcome.policies[0].evaluation.outcome.error().map(|error| error.to_string()).unwrap_or_default()
    };
    let wrong = message(&format!("?checksum=sha256:{}", "0".repeat(64)));
    assert!(wrong.starts_with("sentinel.hcl:2:3: the sha256 sum of a.sentinel is "), "{wrong}");
    let right = wrong.split(" is ").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    assert_eq!(message(&format!("?checksum=sha256:{right}")), "");
    assert_eq!(message(&format!("?checksum={}", right.to_uppercase())), "");
    for query in ["?", "?ref=v1", "?checksum=md5:d41d8cd98f00b204e9800998ecf8427e", "?checksum=sha256:00"] {
        assert_eq!(
            message(query),
            format!("sentinel.hcl:2:3: the source `a.sentinel{query}` asks for what is not understood")
        );
    }
    let both = message(&format!("?checksum=sha256:{right}&ref=v1"));
    assert!(both.contains("asks for what is not understood"), "{both}");
}

#[test]
fn the_log_has_the_form_of_a_policy_check() {
    let policy = "// Instances must be small.\n\nprint(\"looking\")\nsizes = rule { [1, {\"a\": \"b\"}] }\n// The decision.\nmain = rule { sizes is [] }\n";
    let outcome = evaluate(&[
        ("sentinel.hcl", "policy \"small\" { enforcement_level = \"soft-mandatory\" }"),
        ("small.sentinel", policy),
    ]);
    let expected = "\
Sentinel Result: false

Sentinel evaluated to false because one or more Sentinel policies evaluated
to false. This false was not due to an undefined value or runtime error.

1 policies evaluated.

## Policy 1: small (soft-mandatory)

Result: false

Description:
  Instances must be small.

Print messages:

looking

FALSE - small.sentinel:6:1 - Rule \"main\"
  Description:
    The decision.

  Value:
    false

small.sentinel:4:1 - Rule \"sizes\"
  Value:
    [
      1,
      {
        \"a\": \"b\",
      },
    ]
";
    assert_eq!(outcome.log(), expected);
}

/// The members of the reference since 0.25, and no others.
#[test]
fn the_outcome_as_json() {
    let json = levels(FAIL, PASS, "main = 1 / 0").json();
    let members =
        |json: &serde_json::Value| -> Vec<String> { json.as_object().unwrap().keys().cloned().collect() };
    assert_eq!(members(&json), ["duration", "error", "policies", "result"]);
    assert_eq!((&json["result"], &json["error"]), (&false.into(), &serde_json::Value::Null));
    let policy = &json["policies"][0];
    assert_eq!(members(policy), ["duration", "enforcement_level", "error", "policy", "result", "trace"]);
    assert_eq!(policy["policy"], "a");
    assert_eq!(policy["enforcement_level"], "advisory");
    assert_eq!(policy["result"], false);
    assert_eq!(policy["trace"]["rules"]["main"]["value"], false);
    assert_eq!(json["policies"][2]["error"], "h.sentinel:1:8: division by zero");
}

#[test]
fn an_evaluation_as_json() {
    let json = crate::support::run("r = rule { [1, null] }\nmain = rule { r }").unwrap().json();
    assert_eq!(json["result"], false);
    assert_eq!(json["trace"]["rules"]["main"]["value"], serde_json::json!([1, null]));
    assert_eq!(json["trace"]["rules"]["r"]["ident"], "r");
    assert_eq!(json["error"], serde_json::Value::Null);
}

#[test]
fn sensitive_values_are_masked_in_everything_that_is_shown() {
    let policy = "param token\nprint(\"token:\", token)\nfound = rule { [token, {\"t\": \"x-\" + token}] }\nmain = rule { found is [] }";
    let broken = "param token\nerror(\"bad token \" + token)\nmain = true";
    let inputs = Inputs {
        params: HashMap::from([("token".to_owned(), "hunter2!".into())]),
        secrets: Secrets::new(["hunter2!".to_owned()]),
        ..Inputs::default()
    };
    let outcome = evaluate_with(
        &[
            ("sentinel.hcl", "policy \"a\" {}\npolicy \"b\" {}"),
            ("a.sentinel", policy),
            ("b.sentinel", broken),
        ],
        &inputs,
    );
    for text in [outcome.log(), outcome.json().to_string()] {
        assert!(!text.contains("hunter2"), "{text}");
        assert!(text.contains("(sensitive value)"));
    }
}

#[test]
fn a_secret_is_masked_in_json_and_line_by_line() {
    let secret = "hunter2\"x\nline two";
    let policy = "import \"json\"\nimport \"strings\"\nparam s\n\
        print([json.marshal({\"a\": s})])\nprint(json.marshal(json.marshal(s)))\nprint(strings.split(s, \"\\n\"))\n\
        r = rule { {\"j\": json.marshal({\"k\": json.marshal(s)})} }\nmain = rule { r is empty }";
    let inputs = Inputs {
        params: HashMap::from([("s".to_owned(), secret.into())]),
        secrets: Secrets::new([secret.to_owned()]),
        ..Inputs::default()
    };
    let outcome = evaluate_with(&[("sentinel.hcl", "policy \"a\" {}"), ("a.sentinel", policy)], &inputs);
    for text in [outcome.log(), outcome.json().to_string()] {
        assert!(!text.contains("hunter2") && !text.contains("line two"), "{text}");
        assert!(text.matches("(sensitive value)").count() >= 5, "{text}");
    }
}

/// Of a secret that is longer than what a message repeats of a value, the rest is not there to be compared with.
#[test]
fn no_part_of_a_long_secret_is_in_a_message() {
    let secret: String = (0..100).map(|at| format!("{at:04}é-")).collect();
    let pem = format!("-----BEGIN KEY-----\n{secret}\n-----END KEY-----\n");
    // nor of one that the cut of a whole message meets
    let late = "error(strings.join(map range(2720) as _ { \"word, \" }, \"\") + s)";
    for call in [
        "time.load(s)",
        "time.load(\"é\" + s)",
        "version.new(s)",
        "decimal.new(s)",
        "sockaddr.is_ipv4(s)",
        "\"a\" matches \"(\" + s",
        "error(s)",
        late,
    ] {
        for secret in [&secret, &pem] {
            let imports = ["time", "version", "decimal", "sockaddr", "strings"]
                .map(|name| format!("import \"{name}\"\n"));
            let policy = format!("{}param s\nmain = rule {{ {call} is true }}", imports.concat());
            let inputs = Inputs {
                params: HashMap::from([("s".to_owned(), secret.as_str().into())]),
                secrets: Secrets::new([secret.clone()]),
                ..Inputs::default()
            };
            let outcome =
                evaluate_with(&[("sentinel.hcl", "policy \"a\" {}"), ("a.sentinel", &policy)], &inputs);
            for text in [outcome.log(), outcome.json().to_string()] {
                assert!(text.contains("(sensitive value)"), "{call}: {text}");
                assert!(!text.contains("0000") && !text.contains("BEGIN KEY"), "{call}: {text}");
            }
        }
    }
}

#[test]
fn levels_have_names_and_an_order() {
    assert!(EnforcementLevel::Advisory < EnforcementLevel::SoftMandatory);
    assert!(EnforcementLevel::SoftMandatory < EnforcementLevel::HardMandatory);
    assert_eq!(EnforcementLevel::HardMandatory.to_string(), "hard-mandatory");
}

#[test]
fn the_outcome_does_not_depend_on_the_number_of_threads() {
    let config: String = (0..20).map(|at| format!("policy \"p{at}\" {{}}\n")).collect();
    let policies: Vec<(String, String)> = (0..20)
        .map(|at| (format!("p{at}.sentinel"), format!("print({at})\nmain = rule {{ {at} % 3 is 0 }}")))
        .collect();
    let mut files: Vec<(&str, &str)> =
        policies.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    files.push(("sentinel.hcl", &config));
    let set = PolicySet::load(&MemFiles::new(&files), "").unwrap();
    let log = |threads| set.evaluate_on(threads, &Inputs::default(), Limits::default(), &host()).log();
    assert_eq!(log(1), log(4));
    assert_eq!(log(1), log(100));
    assert_eq!(set.evaluate_on(0, &Inputs::default(), Limits::default(), &host()).counts().passed, 7);
}

#[test]
fn a_set_is_shared_between_threads() {
    let files = MemFiles::new(&[
        ("sentinel.hcl", "policy \"a\" {}"),
        ("a.sentinel", "l = [1, 2, 3]\nappend(l, 4)\nmain = rule { length(l) is 4 }"),
    ]);
    let set = PolicySet::load(&files, "").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    assert!(set.evaluate(&Inputs::default(), Limits::default(), &host()).result());
                }
            });
        }
    });
}
