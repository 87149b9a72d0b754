# Everything that a change has to pass, as CI runs it.
verify: fmt-check lint test demo

fmt-check:
    cargo fmt --all --check

lint:
    cargo clippy --workspace --all-targets -- -D warnings

test:
    cargo test --workspace

# One command from nothing to a run.
demo:
    cargo run --release -- demo --yes

# Overhead, latency, throughput, memory and policies, in one table measured in one run. SENTINEL_CORPUS may name a
# folder of repositories of Sentinel policies.
bench:
    cargo build --release
    cargo run --release -p bench

# Runs every Sentinel test case below DIR, which has a folder for each repository, and prints what passed of each;
# then which mocks equal what is derived from the plan that they carry.
sentinel-corpus DIR *OPTIONS:
    cargo run --release -p sentinel-corpus -- {{DIR}} {{OPTIONS}}

# Takes over changed golden files after they were read.
snapshots:
    INSTA_UPDATE=always cargo test --workspace
