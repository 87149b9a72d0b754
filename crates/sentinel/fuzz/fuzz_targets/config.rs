#![no_main]

use libfuzzer_sys::fuzz_target;
use sentinel::Config;

fuzz_target!(|text: &str| {
    for name in ["sentinel.hcl", "sentinel.json"] {
        if let Err(error) = Config::parse(name, text) {
            drop(error.render());
        }
    }
});
