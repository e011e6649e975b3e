//! gramc.
fn main() {}
