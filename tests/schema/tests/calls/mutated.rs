//! What the fuzz target asks, in a plain loop over changed texts.

use gramc_language_tests::campaign;
use gramc_schema_tests::arguments::subjects;

use super::run;

/// Arguments for the tools, right ones and wrong ones, to begin with.
const SEEDS: [&str; 24] = [
    r#"{"path":"a","limit":"80","deep":"Yes","x":1}"#,
    r#"{"file":"a","limit":800,"deep":null}"#,
    r#"{"a":{"kind":"y","t":"z","w":1},"b":"off"}"#,
    r#"{"a":"5","b":null}"#,
    r#"{"tags":"a","opts":"{\"unit\":\"CELSIUS\",\"n\":2.0}"}"#,
    r#"{"tags":"[\"a\",\"b\"]","opts":{"unit":"kelvin"}}"#,
    r#"{"tree":{"value":1,"left":{"value":2,"left":"{\"value\":\"3\"}"},"right":null}}"#,
    r#"{"json":[1,"a",null,{"b":[true,{"c":{}}]}]}"#,
    r#"{"nest":[[1],"[2,[3]]",4.0]}"#,
    r#"{"deep":[[],[[]],5]}"#,
    r#"{"one":{"of":{"of":[1,"2"]}}}"#,
    r#"{"day":"2024-02-29","mail":"x@y.example","raw":"aGk="}"#,
    r#"{"pair":[1,"a"],"lists":[[1],2],"map":{"a":"yes","a":true}}"#,
    r#"{"a":1e400,"n":0.5}"#,
    r#"{"id":"7","sure":"true","mode":"SOFT"}"#,
    r#"{"set":[1,1.0,2],"all":{"a":1,"b":2,"c":3}}"#,
    "```json\n{path: 'a', limit: 5, /* c */ deep: True,}\n```",
    "{'tags': ['a', 'b', // more\n], 'opts': {unit: kelvin",
    r#"{"\u0061":1,"n":"1e-2"}"#,
    r#"{"id":-0.0,"sure":1,"mode":"hard"}"#,
    "",
    "null",
    "[]",
    r#"{"set":"[1,2]","all":"{}"}"#,
];

/// Pieces that texts are changed by.
const PIECES: [&str; 28] = [
    "{", "}", "[", "]", ",", ":", "\"", "\\", "'", "null", "true", "False", "0", "-", "1e9", ".5",
    "\\u00e9", "\\ud800", "\\\"", "//", "/*", "*/", "#\n", "```", "\u{feff}", "é", "\"a\":1,",
    "\u{1}",
];

#[test]
fn whatever_is_sent_is_answered_rightly() {
    let subjects = subjects();
    let counts = run(campaign::cases(), 41, |rng, counts| {
        let mut text = SEEDS[rng.below(SEEDS.len())].to_owned();
        for _ in 0..rng.below(5) {
            let mut places = text.char_indices().map(|(at, _)| at).collect::<Vec<_>>();
            places.push(text.len());
            let at = places[rng.below(places.len())];
            let to = places[rng.below(places.len())];
            match rng.below(4) {
                0 => text.insert_str(at, rng.pick(&PIECES)),
                1 => text.replace_range(at.min(to)..at.max(to), rng.pick(&PIECES)),
                2 => text.truncate(at),
                _ => {
                    let piece = text[at.min(to)..at.max(to)].to_owned();
                    text.insert_str(at, &piece);
                }
            }
            if text.len() > 4_096 {
                break;
            }
        }
        let subject = &subjects[rng.below(subjects.len())];
        counts.add(if subject.look(&text) > 0 { "accepted" } else { "refused" });
    });
    assert!(counts.of("accepted") > 100 && counts.of("refused") > 100, "{:?}", counts.of);
}
