//! Measures what an execution costs on top of what it runs: `cargo run --release -p executor --example overhead`.

use std::error::Error;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use executor::{Executor, LocalExecutor, Observation, Spec, Step};

const ROUNDS: u32 = 100;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    if let [verb, directory] = arguments.as_slice()
        && verb == "run"
    {
        return executor::run(directory.as_ref());
    }
    let measured =
        tokio::runtime::Runtime::new().map_err(Into::into).and_then(|runtime| runtime.block_on(measure()));
    match measured {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stdout, reason = "the table is what it is for")]
async fn measure() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let executor = LocalExecutor::new("/proc/self/exe", vec!["run".to_owned()])?;
    let mut spec = Spec::new("overhead", folder.path());
    spec.steps.push(Step::new("true", "/bin/true"));
    let [mut alone, mut exec, mut launch, mut whole] = [const { Vec::<Duration>::new() }; 4];
    for round in 0..ROUNDS {
        let clock = Instant::now();
        Command::new("/bin/true").status()?;
        alone.push(clock.elapsed());

        let directory = folder.path().join(round.to_string());
        let (clock, start) = (Instant::now(), jiff::Timestamp::now());
        executor.launch(&directory, &spec).await?;
        launch.push(clock.elapsed());
        let Observation::Finished(result) = executor.wait(&directory).await? else {
            return Err("it did not finish".into());
        };
        whole.push(clock.elapsed());
        let started =
            result.steps.first().and_then(|step| step.started_at).ok_or("its step did not start")?;
        exec.push(started.duration_since(start).unsigned_abs());
    }
    println!("{:<44} {:>8} {:>8}", format!("milliseconds, {ROUNDS} rounds"), "median", "p95");
    for (name, times) in [
        ("/bin/true, started directly", alone),
        ("launch called -> first step's exec", exec),
        ("launch called -> launch returned", launch),
        ("launch called -> result seen by wait", whole),
    ] {
        let mut times: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1e3).collect();
        times.sort_by(f64::total_cmp);
        let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
        println!("{name:<44} {:>8.2} {:>8.2}", at(50), at(95));
    }
    Ok(())
}
