//! What signalbox costs, in one table measured in one run (`just bench`).
//!
//! Starts the release binary that lies beside this one on configurations of its own, and drives it through
//! its API; policies are evaluated in this process. Ratios compare what was measured alternately on the same
//! machine within the same minute.
#![expect(clippy::print_stdout, reason = "printing the table is what this is for")]

mod daemon;
mod measure;
mod policies;
mod standin;

use measure::{confirm_latency, overhead, resident_memory, throughput};
use policies::{corpus, large_plan};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut rows = Vec::new();
    overhead(&mut rows).await?;
    confirm_latency(&mut rows).await?;
    throughput(&mut rows).await?;
    resident_memory(&mut rows).await?;
    large_plan(&mut rows)?;
    corpus(&mut rows)?;
    let width = rows.iter().map(|(what, _)| what.chars().count()).max().unwrap_or_default();
    for (what, value) in rows {
        println!("{what:<width$}  {value}");
    }
    Ok(())
}
