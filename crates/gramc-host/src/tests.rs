//! Experiments with functions of this program.
#![allow(clippy::unwrap_used, reason = "a test stops where something is missing")]

use std::sync::atomic::{AtomicUsize, Ordering};

use std::sync::Arc;

use gramc_agent::model::Models;
use gramc_agent::{AgentFunction, FunctionConversation, FunctionFuture};
use gramc_experiment::{
    CaseText, Experiment, ExperimentError, ExperimentOptions, FinishedExperiment, merge_parts,
};
use gramc_tools::implementations::async_function;
use gramc_tools::{Call, Session};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::{BoundLibrary, Library, Specification};

/// Answers with the result of `state`, and counts its answers.
#[derive(Debug, Default)]
struct Clerk(Arc<AtomicUsize>);

#[derive(Debug)]
struct ClerkConversation(Arc<AtomicUsize>, Arc<Session>);

impl AgentFunction for Clerk {
    fn name(&self) -> &'static str {
        "clerk"
    }

    fn start(&self, session: Arc<Session>) -> Box<dyn FunctionConversation> {
        Box::new(ClerkConversation(Arc::clone(&self.0), session))
    }
}

impl FunctionConversation for ClerkConversation {
    fn answer(&mut self, message: &str) -> FunctionFuture {
        self.0.fetch_add(1, Ordering::Relaxed);
        let (session, message) = (Arc::clone(&self.1), message.to_owned());
        Box::pin(async move {
            let verdict = session.call(Call::new("state", format!("{{\"id\": {message}}}"))).await;
            Ok(verdict.message().into())
        })
    }
}

struct Shop {
    specification: Specification,
    libraries: [BoundLibrary; 2],
    asked: Arc<AtomicUsize>,
    folder: TempDir,
}

/// A library that loses the orders below a number.
fn library(specification: &Specification, lost: i64, code: &str) -> BoundLibrary {
    let library = Library::new("shop", Map::new());
    let state = async_function(move |arguments: Value| async move {
        let is_lost = arguments["id"].as_i64().unwrap_or_default() < lost;
        Ok::<_, String>(Value::from(if is_lost { "lost" } else { "open" }))
    });
    let injected = Map::from_iter([("key".to_owned(), json!("s3cret-value"))]);
    library.add("state", state, Map::new(), injected, Some(code));
    library.bind(specification).unwrap()
}

impl Shop {
    fn new(lost: i64) -> Self {
        let text =
            "[state:Tool | (id::Int)==>(key::Text {injected: true, secret: true})==>(::Text)]";
        let specification = Specification::parse(text, "shop.gram").unwrap();
        let libraries = [(0, "1"), (lost, "2")];
        let libraries = libraries.map(|(lost, code)| library(&specification, lost, code));
        let (asked, folder) = (Arc::default(), tempfile::tempdir().unwrap());
        Self { specification, libraries, asked, folder }
    }

    /// Compares the libraries. The report is written into a folder of this name.
    async fn compare(
        &self,
        folder: &str,
        options: Value,
    ) -> Result<FinishedExperiment, ExperimentError> {
        let mut options = ExperimentOptions::read(&options.to_string())?;
        options.report = Some(self.folder.path().join(folder));
        let case =
            |id: i32| json!({"input": id.to_string(), "expect": {"equals": "open"}}).to_string();
        let lines = (0..60).map(case).collect::<Vec<_>>().join("\n");
        let arms = self.libraries.iter().zip(["stable", "rewrite"]).map(|(library, name)| {
            let agent: Arc<dyn AgentFunction> = Arc::new(Clerk(Arc::clone(&self.asked)));
            let model = options.model.as_deref();
            library.arm(name, &self.specification, agent, model).unwrap()
        });
        let arms: Vec<_> = arms.collect();
        let mut models = Models::new(|_| None, "");
        let cases = CaseText::new(lines, "cases");
        let experiment = Experiment::new(&arms, cases, options, &mut models)?;
        experiment.run_and_write(&CancellationToken::new()).await
    }

    fn asked(&self) -> usize {
        self.asked.swap(0, Ordering::Relaxed)
    }
}

#[tokio::test]
async fn a_worse_library_is_found_and_finished_runs_are_kept() {
    let shop = Shop::new(15);
    let report = shop.compare("report", json!({"name": "replace"})).await.unwrap();
    assert_eq!(shop.asked(), 120);
    assert!(
        report.report.verdict.starts_with("rewrite worse by 25.0 points"),
        "{}",
        report.report.text()
    );
    assert!(report.gate_failures("success >= -50pp").unwrap().is_empty());
    let failures = report.gate_failures("success >= -1pp").unwrap();
    assert!(failures[0].starts_with("gate `success >= -1pp` failed: rewrite against stable is"));
    let json = report.report.json();
    let texts = &json["differences"][0]["arms"];
    let text =
        |code| format!("(state:Function {{\"inject\":{{\"key\":\"***\"}},\"code\":\"{code}\"}})");
    assert_eq!(*texts, json!([text("1"), text("2")]));
    let kept = std::fs::read_to_string(shop.folder.path().join("report/runs.jsonl")).unwrap();
    assert!(kept.lines().count() == 120 && !kept.contains("s3cret-value"));
    let again = shop.compare("report", json!({"name": "replace"})).await.unwrap();
    assert_eq!((shop.asked(), again.report.json()), (0, json));
    for (options, difference) in [
        (json!({"seed": 1}), "the seed differs"),
        (json!({"model": "openai/x"}), "the model differs"),
        (json!({"agent_version": "2"}), "the code or version of the agent differs"),
        (json!({"time_limit": 3}), "the limits or sampling parameters differ"),
    ] {
        let refused = shop.compare("report", options).await.unwrap_err().to_string();
        assert!(refused.contains(difference), "{refused}");
    }
    let other = Shop {
        libraries: [(0, "1"), (15, "3")]
            .map(|(lost, code)| library(&shop.specification, lost, code)),
        ..shop
    };
    let refused = other.compare("report", json!({})).await.unwrap_err().to_string();
    assert!(refused.contains("the arms differ"), "{refused}");
}

#[tokio::test]
async fn parts_make_the_whole() {
    let shop = Shop::new(9);
    let whole = shop.compare("whole", json!({"repeats": 2})).await.unwrap();
    let parts = ["1/2", "2/2"].map(|shard| {
        let options = json!({"repeats": 2, "shard": shard});
        (shard.replace('/', "-"), options)
    });
    for (folder, options) in parts.clone() {
        shop.compare(&folder, options).await.unwrap();
    }
    let folders = parts.map(|(folder, _)| shop.folder.path().join(folder));
    let merged = merge_parts(&folders, false, ExperimentOptions::default()).unwrap();
    let comparable = |finished: &FinishedExperiment| {
        let mut json = finished.report.json();
        let all = json["comparisons"].as_array_mut().unwrap();
        all.retain(|it| it["outcome"] != "latency");
        json["comparisons"].take()
    };
    assert_eq!(comparable(&merged), comparable(&whole));
    let missing =
        merge_parts(&folders[..1], false, ExperimentOptions::default()).unwrap_err().to_string();
    assert_eq!(missing, "missing parts: 2/2");
}
