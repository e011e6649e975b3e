//! The list of cases in the HTML report, as a browser shows it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::ab::{REPLACE, keeps};
use crate::real::ab::{output, tool};
use crate::support::{Folder, command, folder, gramc, root};

/// A name and an output that would end the script, the title and the list of a careless page.
const HOSTILE: &str = "</script></title><script>document.title='owned'</script>\u{2028}\u{2029}<!--<img src=x onerror=a()>&amp;";

/// The report of two repeats, with changed runs: tags, a hostile case, a formula, a flaky case that is won,
/// one that is not, and one without an answer.
fn changed() -> Folder {
    let kept = folder(&[]);
    keeps(&format!("{REPLACE} --repeats 2"), &kept, "first").exits(0);
    let runs = kept.read("first/runs.jsonl");
    let mut manifest: Value = serde_json::from_str(&kept.read("first/experiment.json")).unwrap();
    let mut lines = String::new();
    for line in runs.lines() {
        let mut run: Value = serde_json::from_str(line).unwrap();
        let (case, arm) = (run["case"].as_str().unwrap().to_owned(), run["arm"].clone());
        let (status, number) = case.split_once('-').unwrap();
        let mut tags = vec![status];
        let is_second = run["repeat"] == 1;
        match number {
            "1003" => {
                run["case"] = json!(HOSTILE);
                tags.push(HOSTILE);
                run["missed"] = json!([HOSTILE]);
                run["end"] = json!(HOSTILE);
                run["messages"][2]["content"] = json!(format!("{arm} {HOSTILE}"));
            }
            "1004" => run["case"] = json!("=HYPERLINK(\"x\"),\"y\""),
            // 2 of 2 and 1 of 2.
            "1005" => run["success"] = json!(arm == "stable" || is_second),
            // 1 of 2 and 1 of 2.
            "1006" => run["success"] = json!(is_second),
            "1007" => run["success"] = json!(false),
            "1008" if is_second && arm == "rewrite" => continue,
            _ => {}
        }
        let case = run["case"].as_str().unwrap().to_owned();
        manifest["attributes"][case] = json!({ "tags": tags });
        lines += &run.to_string();
        lines.push('\n');
    }
    std::fs::create_dir(kept.file("changed")).unwrap();
    kept.write("changed/experiment.json", manifest.to_string());
    kept.write("changed/runs.jsonl", lines);
    let merge = gramc("ab merge --partial").arg(kept.file("changed"));
    merge.arg("--report").arg(kept.file("report")).run().exits(0);
    kept
}

fn browse(kept: &Folder, page: &str, actions: &Value) -> Value {
    let mut browser = command("node");
    browser
        .arg(root().join("tests/real/browser/cases.mjs"))
        .arg(tool("browser"))
        .arg(tool("chromium/chromium"))
        .arg(kept.file(page))
        .arg(actions.to_string());
    let seen: Value = serde_json::from_str(&output(browser)).expect("the script tells JSON");
    for nothing in ["requests", "errors", "violations"] {
        assert_eq!(seen[nothing], json!([]), "{seen:#}");
    }
    seen
}

/// The records of a CSV file.
fn records(csv: &str) -> Vec<Vec<String>> {
    let (mut records, mut cells, mut cell) = (Vec::new(), Vec::new(), String::new());
    let mut is_quoted = false;
    let mut chars = csv.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if is_quoted && chars.peek() == Some(&'"') => cell.extend(chars.next()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(std::mem::take(&mut cell)),
            '\n' if !is_quoted => {
                cells.push(std::mem::take(&mut cell));
                records.push(std::mem::take(&mut cells));
            }
            '\r' if !is_quoted => {}
            c => cell.push(c),
        }
    }
    records
}

#[test]
fn cases_are_filtered_searched_compared_and_exported() {
    let kept = changed();
    let actions = json!([
        {"result": 0}, {"open": "returned-1013"}, {"close": true},
        {"result": 2}, {"result": 3}, {"result": 5},
        {"result": "all"}, {"tag": "returned"}, {"tag": ""},
        {"search": "1005"}, {"open": "1005"}, {"run": "rewrite", "option": 0},
        {"search": "owned"}, {"open": "script"}, {"search": "nothing like it"},
        {"search": ""}, {"page": "Next"}, {"export": true},
    ]);
    let seen = browse(&kept, "report/report.html", &actions);
    let title = seen["title"].as_str().unwrap();
    assert!(title.starts_with("replace: rewrite worse by "), "{title}");
    let steps = seen["steps"].as_array().unwrap();
    let status = |step: usize| steps[step]["status"].as_str().unwrap();
    let rows = |step: usize| steps[step]["rows"].as_array().unwrap();
    assert_eq!((status(0), rows(0).len()), ("200 of 200 cases", 50));
    let chips = [
        "all 200",
        "won by stable 21",
        "flaky 2",
        "both failed 1",
        "both succeeded 176",
        "unanswered 1",
    ];
    assert_eq!(steps[0]["chips"], json!(chips));
    assert_eq!(status(1), "21 of 200 cases");
    // Equal messages are shown once; of the others, the words that differ are marked.
    let turns = steps[2]["turns"].as_array().unwrap();
    let kinds: Vec<_> =
        turns.iter().map(|turn| turn.as_str().unwrap().split(':').next().unwrap()).collect();
    assert_eq!(kinds, ["same", "same", "differs", "differs", "differs", "differs"], "{turns:?}");
    assert_eq!(steps[2]["marks"], json!(["returned", "delivered", "returned", "delivered"]));
    assert_eq!(steps[3]["turns"], json!([]), "a closed row holds no transcript");
    // Flaky: one is won by its higher rate, the other is not won.
    let rates = |rows: &[Value]| {
        let mut rates: Vec<_> =
            rows.iter().map(|row| row.as_array().unwrap()[1..].to_vec()).collect();
        rates.sort_by_key(|row| row[0].to_string());
        rates
    };
    assert_eq!(
        json!(rates(rows(4))),
        json!([
            ["flaky", "shipped", "stable 1 of 2", "rewrite 1 of 2"],
            ["won by stable", "flaky", "packed", "stable 2 of 2", "rewrite 1 of 2"],
        ])
    );
    assert_eq!(json!(rates(rows(5)))[0][0], "both failed");
    assert_eq!(rows(6)[0][4], "rewrite 1 of 1, 1 unanswered");
    assert!(status(8).ends_with(" of 200 cases") && rows(8).len() == 20, "{}", status(8));
    assert_eq!(status(10), "1 of 200 cases");
    assert_eq!(
        steps[12]["turns"].as_array().unwrap().len(),
        steps[11]["turns"].as_array().unwrap().len()
    );
    assert_eq!((status(13), rows(13)[0][0].as_str()), ("1 of 200 cases", Some(HOSTILE)));
    let hostile = steps[14]["turns"].to_string();
    assert!(hostile.contains("<script>document.title='owned'</script>"), "{hostile}");
    assert_eq!((status(15), rows(15).len()), ("0 of 200 cases", 0));
    assert_eq!(rows(17).len(), 50);
    assert_ne!(rows(17), rows(16));
    let plain = seen["plain"].as_str().unwrap();
    for told in ["won by stable", "The list of cases needs JavaScript", "All outcomes", "margin ±5"]
    {
        assert!(plain.contains(told), "{told}: {plain}");
    }
    assert!(seen["plots"].as_u64().unwrap() > 4, "plots need no script");
    exported(&kept, steps[18]["csv"].as_str().unwrap());
}

/// Compares the exported cases with the runs.
fn exported(kept: &Folder, csv: &str) {
    let mut totals: BTreeMap<(String, String), [u64; 4]> = BTreeMap::new();
    for line in kept.read("report/runs.jsonl").lines() {
        let run: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| run[key].as_str().unwrap().to_owned();
        let of_arm = totals.entry((text("case"), text("arm"))).or_default();
        let success = u64::from(run["success"] == true);
        let values = [1, success, run["calls"].as_u64().unwrap(), run["tokens"].as_u64().unwrap()];
        for (total, value) in of_arm.iter_mut().zip(values) {
            *total += value;
        }
    }
    let records = records(csv);
    let head = &records[0];
    assert_eq!(head[..5], ["case", "result", "flaky", "tags", "stable runs"]);
    assert_eq!(records.len(), 201);
    for record in &records[1..] {
        let name = record[0].strip_prefix('\'').unwrap_or(&record[0]);
        for arm in ["stable", "rewrite"] {
            let cell = |what: &str| {
                let at = head.iter().position(|head| *head == format!("{arm} {what}")).unwrap();
                record[at].parse::<u64>().unwrap()
            };
            let seen = ["runs", "successes", "calls", "tokens"].map(cell);
            assert_eq!(seen, totals[&(name.to_owned(), arm.to_owned())], "{name} {arm}");
        }
    }
    let won = records.iter().filter(|record| record[1] == "won by stable").count();
    assert_eq!(won, 21);
    assert!(csv.contains("\"'=HYPERLINK(\"\"x\"\"),\"\"y\"\"\""), "a spreadsheet runs no formula");
}

#[test]
fn no_text_of_a_run_becomes_markup() {
    let kept = changed();
    let page = kept.read("report/report.html");
    assert_eq!(
        page.matches("</script>").count(),
        3,
        "the data of the list and of transcripts, and the script"
    );
    assert!(!page.contains("<script>document") && !page.contains("<img"));
    assert!(!page.contains(['\u{2028}', '\u{2029}']));
    assert!(page.contains("\\u003c/script\\u003e") && page.contains("\\u2028"));
}

/// Ten thousand cases, of which the page holds rows and transcripts only as far as they are shown.
#[test]
fn a_report_of_many_cases_stays_usable() {
    let kept = folder(&[]);
    let cases = std::fs::read_to_string(root().join("examples/shop/cases.jsonl")).unwrap();
    let copies = (0..50).flat_map(|copy| {
        cases
            .lines()
            .map(move |case| case.replacen("\", \"input", &format!("-{copy}\", \"input"), 1))
    });
    kept.write("cases.jsonl", copies.collect::<Vec<_>>().join("\n"));
    let run = gramc(REPLACE).args("--outcome success --cases").arg(kept.file("cases.jsonl"));
    run.arg("--report").arg(kept.file("many")).run().exits(0);
    let page = kept.read("many/report.html");
    assert!(page.len() < 12 << 20, "{} bytes", page.len());
    let seen = browse(
        &kept,
        "many/report.html",
        &json!([{"search": "returned"}, {"search": "returned-1003-7"}, {"open": "returned-1003-7"}]),
    );
    let steps = seen["steps"].as_array().unwrap();
    assert_eq!(steps[1]["status"], "1000 of 10000 cases");
    assert_eq!(steps[2]["status"], "1 of 10000 cases");
    assert!(steps.iter().all(|step| step["elements"].as_u64().unwrap() < 1_000), "{seen:#}");
    let slowest = steps[1]["milliseconds"].as_f64().unwrap();
    assert!(slowest < 1_000.0, "{slowest} ms");
    assert_eq!(steps[3]["turns"].as_array().unwrap().len(), 6);
}
