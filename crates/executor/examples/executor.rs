//! The smallest program that can be its own executor; the tests of this crate start it.
//!
//! - `executor run DIRECTORY` is the executor of that execution.
//! - `executor launch DIRECTORY SPEC` launches the spec in the file SPEC, says `launched`, and stays until it is killed.
//! - `executor wait DIRECTORY` waits for the end of an execution that somebody else launched, and says what it is.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use executor::{Executor, LocalExecutor, Spec};

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|verb| verb == "confine") {
        return executor::confine(std::env::args_os().skip(2));
    }
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let arguments: Vec<&Path> = arguments.iter().map(PathBuf::as_path).collect();
    let Some((verb, operands)) = arguments.split_first() else { return usage() };
    match (verb.to_str(), operands) {
        // before any runtime exists
        (Some("run"), [directory]) => executor::run(directory),
        (Some("launch"), [directory, spec]) => asynchronously(launch(directory, spec)),
        (Some("wait"), [directory]) => asynchronously(wait(directory)),
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: executor run DIRECTORY | launch DIRECTORY SPEC | wait DIRECTORY");
    ExitCode::from(2)
}

fn asynchronously(work: impl Future<Output = Result<(), Box<dyn std::error::Error>>>) -> ExitCode {
    let outcome =
        tokio::runtime::Runtime::new().map_err(Into::into).and_then(|runtime| runtime.block_on(work));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn local() -> Result<LocalExecutor, executor::Error> {
    LocalExecutor::new("/proc/self/exe", vec!["run".to_owned()])
}

#[expect(clippy::print_stdout, reason = "whoever started it reads this")]
async fn launch(directory: &Path, spec: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let spec: Spec = serde_json::from_slice(&std::fs::read(spec)?)?;
    local()?.launch(directory, &spec).await?;
    println!("launched");
    std::future::pending().await
}

#[expect(clippy::print_stdout, reason = "whoever started it reads this")]
async fn wait(directory: &Path) -> Result<(), Box<dyn std::error::Error>> {
    println!("{:?}", local()?.wait(directory).await?);
    Ok(())
}
