# Everything that a change has to pass, as CI runs it.
verify: fmt-check lint doc deny without-rego test test-as-ordinary-user demo

fmt-check:
    cargo fmt --all --check

lint:
    cargo clippy --workspace --all-targets -- -D warnings

doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --workspace

# The book in docs/ as HTML: target/book. `cargo install mdbook --locked` brings what it needs.
docs:
    mdbook build docs

# Licences, sources and duplicates of dependencies: `cargo install cargo-deny --locked`.
deny:
    cargo deny check bans licenses sources

# Known vulnerabilities. Fetches its database from GitHub, which not every machine reaches: no part of `verify`.
advisories:
    cargo deny check advisories

# The build without the feature `rego`.
without-rego:
    cargo clippy -p policy -p signalbox --no-default-features --all-targets -- -D warnings
    cargo test -p policy --no-default-features --lib

test:
    cargo test --workspace

# The black-box tests as an ordinary user, as the shipped unit runs the daemon. Needs root, to become that user.
test-as-ordinary-user *TESTS:
    .ci/as-ordinary-user {{TESTS}}

# One command from nothing to a run.
demo:
    cargo run --release -- demo --yes

# The binary to give away: target/dist/signalbox.
dist:
    cargo build --profile dist -p signalbox

# Overhead, latency, throughput, memory and policies, in one table measured in one run. SENTINEL_CORPUS names a corpus.
# PARTS choose: overhead confirm throughput memory scale logs retention policies.
bench *PARTS:
    cargo build --release
    cargo run --release -p bench -- {{PARTS}}

# Kills daemons, executors and terraforms at random, and checks that every run ends as it should. A seed repeats a run.
chaos KILLS="100" SEED="":
    {{ if SEED == "" { "" } else { "SIGNALBOX_CHAOS_SEED=" + SEED } }} SIGNALBOX_CHAOS_KILLS={{KILLS}} cargo test -p signalbox --test blackbox -- chaos --nocapture

# Keeps data of this release, for tests of later ones: once, when it is released.
keep-data:
    cargo test -p signalbox --test blackbox -- --ignored keep_the_data_of_this_release

# Runs every Sentinel test case below DIR, a folder of repositories, and compares mocks with what is derived.
sentinel-corpus DIR *OPTIONS:
    cargo run --release -p sentinel-corpus -- {{DIR}} {{OPTIONS}}

# Takes over changed golden files after they were read.
snapshots:
    INSTA_UPDATE=always cargo test --workspace
