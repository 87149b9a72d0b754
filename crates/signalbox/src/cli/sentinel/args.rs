use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{ArgAction, Args, Subcommand, ValueHint};
use config::HttpHost;

use super::duration;
use crate::cli::names;

#[derive(Debug, Subcommand)]
#[command(after_help = "\
Options may be written with one dash, as the reference's command line has them: `-run=REGEX`.

From a run to a tested policy:
  signalbox sentinel mocks run-CZcmD7eagjhyX1vN -o mocks
  signalbox sentinel apply -config=mocks/sentinel.hcl small-servers.sentinel
  signalbox sentinel test")]
pub(crate) enum SentinelCommand {
    /// Run the test cases of policies: test/POLICY/*.hcl and *.json beside POLICY.sentinel
    ///
    /// A case is a configuration with mocks, params and a `test` block of the rules that it expects; without one
    /// the policy has to pass. Exit status 0 if nothing failed, 1 if a case failed or could not be run.
    Test(TestArgs),
    /// Evaluate a policy, or all policies of a configuration
    ///
    /// Exit status 0 if it passed, 1 if it failed, was undefined or could not be evaluated. Of a configuration:
    /// 1 if a policy failed that is not advisory.
    Apply(ApplyArgs),
    /// Format policies, and print the names of those that were not
    ///
    /// A file that can't be parsed is left as it is, and so is one that is formatted already.
    Fmt(FmtArgs),
    /// Write the mocks of a run or of a plan, so that policies can be tried on it
    ///
    /// They are mocks of tfplan/v2, tfconfig/v2, tfstate/v2, of their forerunners and of tfrun, with a
    /// sentinel.hcl that names them. Sensitive values are masked. Of a run they are for admins of its workspace,
    /// since the plan has to be read in the clear.
    Mocks(MocksArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct TestArgs {
    /// Policies, or folders of them; without any the current directory
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,
    /// Only policies with a name that matches; after a / only such cases
    #[arg(long, value_name = "REGEX")]
    pub(crate) run: Option<String>,
    /// A host that the http import may reach, HOST or HOST:PORT, as http_hosts of a policy set; may be repeated
    #[arg(long, value_name = "HOST")]
    pub(crate) http_host: Vec<HttpHost>,
    /// Traces and prints of cases that passed, too
    #[arg(long)]
    pub(crate) verbose: bool,
    /// How long a case may take, such as 30s or 1m30s
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration::parse)]
    pub(crate) timeout: Duration,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ApplyArgs {
    /// A file, or the name of a policy in the configuration; without it all policies of the configuration
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) policy: Option<String>,
    /// The configuration: a file, or a folder; without it the .hcl files or the sentinel.json of the current
    /// directory, if there are any. Paths in it are relative to its folder; what a file names and is not there
    /// may be in the current directory. Different files in both are refused
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) config: Option<String>,
    /// The value of a parameter, as JSON or text; may be repeated. It wins over the environment variable
    /// SENTINEL_PARAM_name, which wins over the configuration
    #[arg(long, value_name = "NAME=VALUE", value_parser = key_value)]
    pub(crate) param: Vec<(String, String)>,
    /// A value in the global scope; likewise
    #[arg(long, value_name = "NAME=VALUE", value_parser = key_value)]
    pub(crate) global: Vec<(String, String)>,
    /// A host that the http import may reach, HOST or HOST:PORT, as http_hosts of a policy set; may be repeated
    #[arg(long, value_name = "HOST")]
    pub(crate) http_host: Vec<HttpHost>,
    /// The values of the rules even if the policy passed
    #[arg(long)]
    pub(crate) trace: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct FmtArgs {
    /// Policies; - is stdin, and is written to stdout
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<String>,
    /// Change and write nothing: exit status 1 if a file is not formatted
    #[arg(long)]
    pub(crate) check: bool,
    /// Write to the files; =false writes to stdout
    #[arg(
        long, value_name = "BOOL", action = ArgAction::Set, default_value_t = true, num_args = 0..=1,
        require_equals = true, default_missing_value = "true", hide_default_value = true
    )]
    pub(crate) write: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct MocksArgs {
    /// Id of a run, run-…; or a file of what `terraform show -json` prints of a saved plan
    #[arg(value_name = "RUN|PLAN.json", value_hint = ValueHint::FilePath)]
    pub(crate) source: String,
    /// The folder to write, which is made if it is not there
    #[arg(long, short, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,
    /// Replace mocks that are there
    #[arg(long)]
    pub(crate) force: bool,
}

impl MocksArgs {
    /// The run, if it is that and no file.
    pub(crate) fn run_id(&self) -> Option<String> {
        let is_id = self.source.starts_with("run-") && names::means_run(&self.source).is_ok();
        (is_id && !Path::new(&self.source).exists()).then(|| self.source.clone())
    }
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("it is written NAME=VALUE".to_owned()),
    }
}
