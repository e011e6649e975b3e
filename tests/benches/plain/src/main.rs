//! Prints how many nanoseconds others take for the calls of the bench `calls`, one a line.

use std::hint::black_box;
use std::time::Instant;

use serde_json::{Value, json};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const INNER: u32 = 20_000;

const GOOD: &[u8] = include_bytes!("../../calls/good.json");
const BAD: &[u8] = include_bytes!("../../calls/bad.json");

fn time(name: &str, work: impl Fn()) {
    let start = Instant::now();
    for _ in 0..INNER {
        work();
    }
    println!("{name} {:.1}", start.elapsed().as_secs_f64() * 1e9 / f64::from(INNER));
}

fn main() {
    // What `gramc compile` makes of the bench's tool.
    let schema = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": 200},
            "state": {"type": "string", "enum": ["open", "closed", "all"], "default": "open"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 30},
            "exact": {"type": "boolean"},
            "filter": {
                "type": "object",
                "properties": {
                    "author": {"type": "string"},
                    "labels": {"type": "array", "items": {"type": "string"}},
                    "since": {"type": "string"}
                },
                "required": ["labels"]
            }
        },
        "required": ["query"]
    });
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    let read = |text: &[u8]| serde_json::from_slice::<Value>(text).expect("it is JSON");
    assert!(validator.is_valid(&read(GOOD)));
    assert_eq!(validator.iter_errors(&read(BAD)).count(), 6);

    time("serde_json", || drop(black_box(read(black_box(GOOD)))));
    time("serde_json and jsonschema", || {
        let value = read(black_box(GOOD));
        black_box(validator.validate(&value).is_ok());
    });
    time("serde_json and iter_errors, bad", || {
        let value = read(black_box(BAD));
        for error in validator.iter_errors(&value) {
            black_box(error.to_string());
        }
    });
    time("sonic-rs", || {
        let value: sonic_rs::Value = sonic_rs::from_slice(black_box(GOOD)).expect("it is JSON");
        drop(black_box(value));
    });
}
