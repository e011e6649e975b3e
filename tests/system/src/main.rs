//! The program `gramc`, as `crates/gramc/src/main.rs` has it.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    std::process::exit(gramc::run(std::env::args_os()));
}
