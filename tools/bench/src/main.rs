//! What signalbox costs, in one table measured in one run (`just bench`); names of parts choose from it.
//!
//! Starts the release binary that lies beside this one on configurations of its own, and drives it through
//! its API; policies are evaluated in this process. Ratios compare what was measured alternately on the same
//! machine within the same minute.
#![expect(clippy::print_stdout, reason = "printing the table is what this is for")]

mod daemon;
mod logs;
mod measure;
mod policies;
mod retention;
mod scale;
mod standin;

use measure::{confirm_latency, overhead, resident_memory, throughput};
use policies::{corpus, large_plan};

/// What can be measured by itself, in the order of the table.
const PARTS: [&str; 8] =
    ["overhead", "confirm", "throughput", "memory", "scale", "logs", "retention", "policies"];

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut wanted: Vec<String> = std::env::args().skip(1).collect();
    if wanted.is_empty() {
        wanted = PARTS.map(str::to_owned).to_vec();
    }
    let mut rows = Vec::new();
    for part in &wanted {
        match part.as_str() {
            "overhead" => overhead(&mut rows).await?,
            "confirm" => confirm_latency(&mut rows).await?,
            "throughput" => throughput(&mut rows).await?,
            "memory" => resident_memory(&mut rows).await?,
            "scale" => scale::measure(&mut rows).await?,
            "logs" => logs::measure(&mut rows).await?,
            "retention" => retention::measure(&mut rows).await?,
            "policies" => {
                large_plan(&mut rows)?;
                corpus(&mut rows)?;
            }
            other => anyhow::bail!("nothing is called {other}; there are {}", PARTS.join(", ")),
        }
    }
    let width = rows.iter().map(|(what, _)| what.chars().count()).max().unwrap_or_default();
    for (what, value) in rows {
        println!("{what:<width$}  {value}");
    }
    Ok(())
}
