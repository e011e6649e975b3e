# Everyday commands. `just --list` shows them; each one is a plain command that also runs without just.

# List the commands.
default:
    @just --list

# Build the command line, target/debug/gramc.
build:
    cargo build

# Run all tests. Installs what they need into .tools.
test:
    tests/run

# Run the tests of one crate, such as `just test-crate gramc-syntax`.
test-crate crate *args:
    tests/run -- -p {{ crate }} {{ args }}

# Check for lints and warnings.
lint:
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Format all code.
fmt:
    cargo fmt --all
    cargo fmt --manifest-path tests/fuzz/Cargo.toml
    cargo fmt --manifest-path tests/benches/plain/Cargo.toml

# Accept changed snapshots of one crate. Review them with `git diff`.
snapshots crate *args:
    INSTA_UPDATE=always tests/run -- -p {{ crate }} {{ args }}

# Regenerate the pages of targets, the list of lints, the outputs in the manual and the simulations.
pages:
    UPDATE_PAGES=1 cargo test -p gramc-schema -p gramc-grammar --lib
    UPDATE_PAGES=1 cargo test -p gramc-system-tests commands_print_what_the_documents_show
    UPDATE_PAGES=1 cargo test -p gramc-system-tests statistics

# Regenerate the parsers of the tree-sitter grammars.
grammars:
    UPDATE_GRAMMARS=1 cargo test -p gramc-language-tests tree_sitter

# Run one benchmark: parse, compile, check, calls, streams, agent, mcp, experiment, statistics or lsp.
bench name:
    cargo bench -p gramc-system-tests --bench {{ name }}

# Run all tests, then fuzz each target.
fuzz seconds="60":
    tests/run --fuzz {{ seconds }}

# Run everything that a change has to pass.
ci:
    .ci/run
