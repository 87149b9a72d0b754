//! What it costs to load a configuration: `cargo run --release -p config --example load -- 10000`.
#![expect(clippy::print_stdout, reason = "printing is what this is for")]

#[path = "../tests/common/many.rs"]
mod many;

use std::time::Instant;

use config::{Config, SystemHost};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workspaces = std::env::args().nth(1).map_or(Ok(10_000), |count| count.parse())?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("signalbox.hcl");
    std::fs::write(&file, many::many(workspaces))?;
    for _ in 0..5 {
        let started = Instant::now();
        let loaded = Config::load(&file, &SystemHost)?;
        println!("{} workspaces: {:?}", loaded.config.workspaces.len(), started.elapsed());
    }
    Ok(())
}
