#![no_main]

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use sentinel::{Data, Environment, FixedHost, Limits, compile, evaluate};

fuzz_target!(|text: &str| {
    let Ok(unit) = compile("fuzz", text) else { return };
    let mut environment = Environment::default();
    environment.set_data("data", Data::map([("list", Data::list([Data::Int(1), "a".into(), Data::Null]))]));
    let limits =
        Limits { steps: 200_000, depth: 200, memory: 8 << 20, time: Duration::from_secs(5) };
    let result =
        evaluate(&Arc::new(unit), &environment, &HashMap::new(), limits, &FixedHost { now: 0 });
    drop(result.text());
});
