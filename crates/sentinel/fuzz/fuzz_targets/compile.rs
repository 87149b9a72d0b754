#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match sentinel::compile("fuzz", text) {
        Err(error) => drop(error.render()),
        Ok(_) => {
            let once = sentinel::format("fuzz", text).expect("what compiles can be formatted");
            let twice = sentinel::format("fuzz", &once).expect("what is formatted can be formatted");
            assert_eq!(once, twice);
        }
    }
});
