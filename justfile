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

# Overhead, latency, throughput, memory and policies, in one table measured in one run. SENTINEL_CORPUS names a corpus.
bench:
    cargo build --release
    cargo run --release -p bench

# Runs every Sentinel test case below DIR, a folder of repositories, and compares mocks with what is derived.
sentinel-corpus DIR *OPTIONS:
    cargo run --release -p sentinel-corpus -- {{DIR}} {{OPTIONS}}

# Takes over changed golden files after they were read.
snapshots:
    INSTA_UPDATE=always cargo test --workspace
