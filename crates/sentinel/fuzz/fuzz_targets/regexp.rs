#![no_main]

use std::collections::HashMap;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use sentinel::{Environment, FixedHost, Limits, compile, evaluate};

fuzz_target!(|input: (String, String)| {
    let (pattern, text) = input;
    let unit = compile("fuzz", "param p\nparam t\nmain = t matches p").expect("it compiles");
    let params = HashMap::from([("p".to_owned(), pattern.into()), ("t".to_owned(), text.into())]);
    let limits = Limits::default();
    evaluate(&Arc::new(unit), &Environment::default(), &params, limits, &FixedHost { now: 0 });
});
