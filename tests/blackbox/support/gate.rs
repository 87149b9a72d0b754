use std::path::{Path, PathBuf};

/// A place where a process waits until the test lets it go on: nothing here depends on time.
#[derive(Debug, Clone)]
pub struct Gate {
    reached: PathBuf,
    open: PathBuf,
}

impl Gate {
    pub fn new(directory: &Path, name: &str) -> Self {
        Self {
            reached: directory.join(format!("{name}.reached")),
            open: directory.join(format!("{name}.open")),
        }
    }

    /// A shell command that says that it is there, and waits until the gate is open.
    pub fn wait_command(&self) -> String {
        format!(
            "echo x >> {}; while [ ! -e {} ]; do sleep 0.02; done",
            self.reached.display(),
            self.open.display()
        )
    }

    pub fn open(&self) {
        std::fs::write(&self.open, "").expect("the directory is there");
    }

    /// How many have come to the gate.
    pub fn arrivals(&self) -> usize {
        std::fs::read_to_string(&self.reached).map(|text| text.lines().count()).unwrap_or_default()
    }

    /// Waits until somebody has come to the gate.
    pub async fn reached(&self) {
        super::wait_for(&format!("{} exists", self.reached.display()), async || {
            (self.arrivals() > 0).then_some(())
        })
        .await;
    }
}
