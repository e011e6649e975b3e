//! Type expressions: random ones, and gramc's verdict on them.

pub use gramc_syntax::is_type;

use crate::mutate::mutate;
use crate::rng::Rng;

/// A type expression that nests at most `depth` deep.
pub fn expression(rng: &mut Rng, depth: usize) -> String {
    let inner = |rng: &mut Rng| expression(rng, depth - 1);
    let simple = depth == 0;
    match rng.below(if simple { 6 } else { 14 }) {
        0 | 1 => ["Text", "Map", "Mapper", "nullable", "A_1", "Int"][rng.below(6)].to_owned(),
        2 => ["\"a\"", "\"a\\\"b\"", "\"\\u00e5\"", "\"\\ud83d\\ude00\"", "\"\""][rng.below(5)]
            .into(),
        3 => ["0", "-1", "1.50", "1e5", "2.5E-3", "123456789012345678901"][rng.below(6)].to_owned(),
        4 => ["true", "false", "null"][rng.below(3)].to_owned(),
        5 => "{}".to_owned(),
        6 => format!("{}[]", inner(rng)),
        7 => format!("{} ?", inner(rng)),
        8 => format!("({})", inner(rng)),
        9 => format!("[{}]", inner(rng)),
        10 => format!("[{}, {}]", inner(rng), inner(rng)),
        11 => format!("Map<{}>", inner(rng)),
        12 => format!("{} | {}", inner(rng), inner(rng)),
        _ => {
            let name = ["a", "null", "Map", "\"a b\""][rng.below(4)];
            let mark = ["", "?"][rng.below(2)];
            let attributes = ["", "", " {range: 1..5}", "{}", " {examples: [\"a\"]}"][rng.below(5)];
            let default = ["", " = 1", "=\"x\"", " = null", " = 1e5", " = []"][rng.below(6)];
            let doc = ["", "", "/** A field */ "][rng.below(3)];
            format!("{{{doc}{name}{mark}: {}{attributes}{default}}}", inner(rng))
        }
    }
}

/// A type expression, or what an edit made of one; always one line.
pub fn edited(rng: &mut Rng) -> String {
    let whole = expression(rng, 3);
    if !rng.chance(60) {
        return whole;
    }
    let text = mutate(rng, &whole);
    if text.contains(['\n', '\0']) { whole } else { text }
}
