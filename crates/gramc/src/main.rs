//! The program `gramc`.

/// A module is many small parts, made on all processors at once.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    // What was read and made lives to the end; taking it apart first would only cost time.
    std::process::exit(gramc::run(std::env::args_os()));
}
