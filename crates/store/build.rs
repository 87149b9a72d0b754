//! Refuses to build with a SQLite that doesn't use `fdatasync`, since each commit would also wait for the journal of the
//! file system. SQLite can't be asked for this at run time: a build that lost the flag would just be slower.

const FLAGS: &str = "LIBSQLITE3_FLAGS";
const NEEDED: &str = "-DHAVE_FDATASYNC=1";

fn main() {
    println!("cargo::rerun-if-env-changed={FLAGS}");
    let flags = std::env::var(FLAGS).unwrap_or_default();
    if !flags.split_whitespace().any(|flag| flag == NEEDED) {
        println!(
            "cargo::error=SQLite would be built without fdatasync: set {FLAGS} to include {NEEDED}, or run cargo within \
             the repository, whose .cargo/config.toml does"
        );
    }
}
