//! Sets the link options of a Node extension.

fn main() {
    napi_build::setup();
}
