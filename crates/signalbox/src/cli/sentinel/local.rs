//! What policies see of this machine.

use std::time::Duration;
use std::{fs, io};

use config::HttpHost;
use policy::{PolicyHost, fetch_source};
use sentinel::{Files, Host, HttpRequest, HttpResponse, Limits, LocalFiles, SystemHost};

/// One's own files, and remote sources over https.
pub(super) struct DeskFiles;

impl Files for DeskFiles {
    fn resolve(&self, folder: &str, path: &str) -> Option<String> {
        LocalFiles.resolve(folder, path)
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        LocalFiles.read(path)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        LocalFiles.list(folder)
    }

    fn fetch(&self, url: &str) -> Result<Vec<u8>, String> {
        fetch_source(url)
    }
}

/// The files that a configuration names: the one beside it, or else, as with the reference, the one in the working
/// directory.
pub(super) struct BesideOrHere;

impl Files for BesideOrHere {
    fn resolve(&self, folder: &str, path: &str) -> Option<String> {
        let beside = DeskFiles.resolve(folder, path)?;
        let here = DeskFiles.resolve("", path)?;
        // what cannot be had for another reason is told, and nothing else taken instead
        let is_missing = |error: io::Error| error.kind() == io::ErrorKind::NotFound;
        let is_here =
            fs::symlink_metadata(&beside).is_err_and(is_missing) && fs::symlink_metadata(&here).is_ok();
        Some(if is_here { here } else { beside })
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        DeskFiles.read(path)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        DeskFiles.list(folder)
    }

    fn fetch(&self, url: &str) -> Result<Vec<u8>, String> {
        DeskFiles.fetch(url)
    }
}

/// The system's clock, and the hosts that were named.
pub(super) struct DeskHost {
    hosts: Vec<String>,
    /// What a request may take, as long as an evaluation: which one asks is not known here.
    time: Duration,
}

impl DeskHost {
    pub(super) fn new(hosts: &[HttpHost], limits: Limits) -> Self {
        Self { hosts: hosts.iter().map(|host| host.as_str().to_owned()).collect(), time: limits.time }
    }
}

impl Host for DeskHost {
    fn now(&self) -> i128 {
        SystemHost.now()
    }

    fn http(&self, request: &HttpRequest) -> Result<HttpResponse, String> {
        if self.hosts.is_empty() {
            return Err(format!(
                "no host may be reached, and so not {}; --http-host allows one",
                request.url
            ));
        }
        PolicyHost::new(&self.hosts, self.time).http(request)
    }
}
