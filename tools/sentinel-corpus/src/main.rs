//! `just sentinel-corpus DIR`: what passes of the policies of others, per repository, and the time; then how many
//! of the mocks that carry their plan equal what is derived from it.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "printing the table is what this is for")]

use std::path::PathBuf;
use std::process::ExitCode;

use sentinel_corpus::{Outcome, Repository, Skipped, derivation, run};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (root, show_failures) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [root] => (PathBuf::from(root), false),
        [root, "--failures"] => (PathBuf::from(root), true),
        _ => {
            eprintln!(
                "usage: sentinel-corpus DIR [--failures]\n\nDIR has a folder for each repository of policies"
            );
            return ExitCode::from(2);
        }
    };
    let (repositories, derivation) = match run(&root).and_then(|cases| Ok((cases, derivation(&root)?))) {
        Ok(found) => found,
        Err(error) => {
            eprintln!("error: can't read {}: {error}", root.display());
            return ExitCode::from(2);
        }
    };
    print_table(&repositories);
    println!("\n{derivation}");
    if show_failures {
        for repository in &repositories {
            for (case, outcome) in &repository.cases {
                if let Outcome::Failed(words) = outcome {
                    println!("{}/{case}\n    {}", repository.name, words.replace('\n', "\n    "));
                }
            }
        }
        derivation.differences.iter().for_each(|difference| println!("{difference}"));
    }
    ExitCode::SUCCESS
}

fn print_table(repositories: &[Repository]) {
    let row = |name: &str, [passed, failed, skipped]: [usize; 3], time: std::time::Duration| {
        println!("{name:<72} {passed:>7} {failed:>7} {skipped:>8} {:>9.1}", time.as_secs_f64() * 1000.0);
    };
    println!("{:<72} {:>7} {:>7} {:>8} {:>9}", "repository", "passed", "failed", "skipped", "ms");
    let mut total = [0; 3];
    for repository in repositories {
        let counts = repository.counts();
        row(&repository.name, counts, repository.time);
        total.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
    }
    row("total", total, repositories.iter().map(|repository| repository.time).sum());
    let skipped = |why| repositories.iter().map(|repository| repository.skipped(why)).sum::<usize>();
    println!(
        "\nskipped: {} without their policy, {} that need the network, {} that need a file that is not there",
        skipped(Skipped::NoPolicy),
        skipped(Skipped::Network),
        skipped(Skipped::NoFile),
    );
}
