/// What the daemon's own environment lends to the processes of a run. Everything else is built from nothing.
#[derive(Debug, Clone)]
pub struct HostEnvironment {
    /// `PATH`.
    pub path: String,
    /// `HOME`: credentials of git and of providers are found there.
    pub home: String,
}
