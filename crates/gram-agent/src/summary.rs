//! What a trace tells of a run: what tools cost, what was wrong with calls, and which habits of the
//! model another tool would spare it.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use serde_json::{Value, json};

use crate::message::Usage;

/// From how many calls of one tool in a row on they are a pattern.
const IN_A_ROW: usize = 5;
/// After a call of another tool, from how many calls on they follow from it.
const EACH: usize = 3;

/// What came of the calls of one tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolUse {
    /// How often it was called.
    pub calls: u64,
    /// How many of these were refused.
    pub refused: u64,
    /// How many ran and failed.
    pub failed: u64,
    /// How many were repaired.
    pub repaired: u64,
    /// How long the calls took, in milliseconds, in order.
    pub times: Vec<f64>,
    /// The tokens of its calls and results, as far as the provider counts them. Where a reply has
    /// several calls, they share its tokens evenly, and those of their results by length.
    pub tokens: f64,
}

/// A habit of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// The line of the trace where it begins, from 1.
    pub line: usize,
    /// What it is.
    pub what: String,
    /// What would spare it.
    pub advice: String,
}

/// A trace, summed up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// How often the user said something.
    pub turns: u64,
    /// How often a model answered.
    pub replies: u64,
    /// How often a model was asked again.
    pub retries: u64,
    /// What all of it cost.
    pub usage: Usage,
    /// The tools, by name.
    pub tools: BTreeMap<String, ToolUse>,
    /// What was refused: tool, parameter and code, with how often.
    pub refusals: BTreeMap<(String, String, String), u64>,
    /// What was repaired: tool, parameter and rule, with how often.
    pub repairs: BTreeMap<(String, String, String), u64>,
    /// Tools that were called in one turn, with how many turns.
    pub together: BTreeMap<(String, String), u64>,
    /// Habits.
    pub patterns: Vec<Pattern>,
}

/// What is remembered of an agent from line to line.
#[derive(Default)]
struct Agent {
    /// The tools of the turn under way, with the lines of their calls.
    turn: Vec<(String, usize)>,
    /// The last reply, where it had calls.
    last: Option<Last>,
}

/// A reply with calls.
struct Last {
    input: u64,
    output: u64,
    /// Its calls, with the lengths of their results.
    calls: Vec<(String, usize)>,
}

impl Summary {
    /// Sums up the lines of a trace.
    ///
    /// # Errors
    ///
    /// The number of the line that is none of a trace, and what is wrong with it.
    pub fn read(text: &str) -> Result<Self, (usize, String)> {
        let mut summary = Self::default();
        let mut agents: BTreeMap<String, Agent> = BTreeMap::new();
        let mut first: Option<String> = None;
        for (line, number) in text.lines().zip(1..) {
            if line.trim().is_empty() {
                continue;
            }
            let line: Value =
                serde_json::from_str(line).map_err(|error| (number, error.to_string()))?;
            let Some(kind) = line["type"].as_str() else {
                return Err((number, "a line of a trace has a `type`".to_owned()));
            };
            let name = line["agent"].as_str().unwrap_or_default();
            let agent = agents.entry(name.to_owned()).or_default();
            match kind {
                "run" => first = Some(name.to_owned()),
                "user" => {
                    // To an agent that is called, another agent speaks.
                    summary.turns += u64::from(first.as_deref().is_none_or(|first| first == name));
                    summary.end_turn(&std::mem::take(&mut agent.turn));
                }
                "reply" => summary.reply(agent, &line),
                "call" => summary.call(agent, &line, number),
                "retry" => summary.retries += 1,
                _ => {}
            }
        }
        for (_, agent) in agents {
            summary.end_turn(&agent.turn);
        }
        summary.patterns.sort_by_key(|pattern| pattern.line);
        Ok(summary)
    }

    fn reply(&mut self, agent: &mut Agent, line: &Value) {
        self.replies += 1;
        let usage: Usage = serde_json::from_value(line["usage"].clone()).unwrap_or_default();
        self.usage.add(usage);
        let (input, output) = (usage.input_tokens.unwrap_or(0), usage.output_tokens.unwrap_or(0));
        // What a request has more than the one before, and the answer to that, is results.
        if let Some(Last { input: before, output: said, calls }) = agent.last.take() {
            let results = input.saturating_sub(before.saturating_add(said));
            let whole: usize = calls.iter().map(|(_, length)| length).sum();
            for (name, length) in calls {
                let share = as_number(length) / as_number(whole.max(1));
                self.tool(&name).tokens += as_tokens(results) * share;
            }
        }
        let calls: Vec<_> = line["tool_calls"].as_array().into_iter().flatten().collect();
        for call in &calls {
            let share = as_tokens(output) / as_number(calls.len());
            self.tool(call["name"].as_str().unwrap_or_default()).tokens += share;
        }
        if !calls.is_empty() {
            agent.last = Some(Last { input, output, calls: Vec::new() });
        }
    }

    fn call(&mut self, agent: &mut Agent, line: &Value, number: usize) {
        // A model may call whatever it likes; nothing of that steers a terminal.
        let name = line["name"].as_str().unwrap_or_default();
        let name = name.replace(|c: char| c.is_control(), " ");
        let verdict = &line["verdict"];
        let told = verdict.get("result").or_else(|| verdict.get("message"));
        let length = told.map_or(0, |told| told.to_string().len());
        if let Some(last) = &mut agent.last {
            last.calls.push((name.clone(), length));
        }
        let error = verdict["error"]["error_type"].as_str();
        let used = self.tool(&name);
        used.calls += 1;
        used.times.extend(line["ms"].as_f64());
        match error {
            Some("invocation_error" | "timeout") => used.failed += 1,
            Some(_) => used.refused += 1,
            None => {}
        }
        let repairs: Vec<_> = verdict["repairs"].as_array().into_iter().flatten().collect();
        used.repaired += u64::from(!repairs.is_empty());
        for repair in repairs {
            self.count(&name, &repair["path"], &repair["rule"], false);
        }
        let errors = verdict["error"]["errors"].as_array();
        for wrong in errors.into_iter().flatten() {
            self.count(&name, &wrong["property"], &wrong["error_code"], true);
        }
        if errors.is_none()
            && let Some(kind) = error
        {
            self.count(&name, &Value::Null, &kind.into(), true);
        }
        agent.turn.push((name, number));
    }

    fn tool(&mut self, name: &str) -> &mut ToolUse {
        self.tools.entry(name.to_owned()).or_default()
    }

    fn count(&mut self, tool: &str, place: &Value, what: &Value, refused: bool) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let counts = if refused { &mut self.refusals } else { &mut self.repairs };
        *counts.entry((tool.to_owned(), text(place), text(what))).or_default() += 1;
    }

    /// Tools of one turn, and what in it is a pattern.
    fn end_turn(&mut self, calls: &[(String, usize)]) {
        let names: std::collections::BTreeSet<_> = calls.iter().map(|(name, _)| name).collect();
        for (at, one) in names.iter().enumerate() {
            for other in names.iter().skip(at + 1) {
                let pair = ((*one).clone(), (*other).clone());
                *self.together.entry(pair).or_default() += 1;
            }
        }
        let mut runs: Vec<(&str, usize, usize)> = Vec::new();
        for (name, line) in calls {
            match runs.last_mut() {
                Some((last, _, count)) if last == name => *count += 1,
                _ => runs.push((name, *line, 1)),
            }
        }
        for (at, &(name, line, count)) in runs.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|at| runs.get(at));
            match before {
                Some(&(lister, _, 1)) if count >= EACH => self.patterns.push(Pattern {
                    line,
                    what: format!("`{lister}` is called, and then `{name}` {count} times"),
                    advice: format!(
                        "let `{lister}` give what `{name}` is called for, or `{name}` take several \
                         at once"
                    ),
                }),
                _ if count >= IN_A_ROW => self.patterns.push(Pattern {
                    line,
                    what: format!("`{name}` is called {count} times in a row"),
                    advice: format!(
                        "let `{name}` take several at once, or add a tool that searches"
                    ),
                }),
                _ => {}
            }
        }
    }

    /// The summary as JSON, one object.
    pub fn json(&self) -> Value {
        let counts = |counts: &BTreeMap<(String, String, String), u64>, what: &str| -> Value {
            let entry = |((tool, place, kind), count): (&(String, String, String), &u64)| json!({"tool": tool, "parameter": place, what: kind, "count": count});
            counts.iter().map(entry).collect()
        };
        let tool = |(name, used): (&String, &ToolUse)| {
            json!({
                "tool": name, "calls": used.calls, "refused": used.refused, "failed": used.failed,
                "repaired": used.repaired, "median_ms": median(&used.times),
                "tokens": used.tokens.round(),
            })
        };
        let together = self.together.iter();
        let together =
            together.map(|((one, other), turns)| json!({"tools": [one, other], "turns": turns}));
        let patterns = self.patterns.iter().map(|pattern| {
            json!({"line": pattern.line, "pattern": pattern.what, "advice": pattern.advice})
        });
        json!({
            "turns": self.turns, "replies": self.replies, "retries": self.retries,
            "usage": self.usage,
            "tools": self.tools.iter().map(tool).collect::<Value>(),
            "refusals": counts(&self.refusals, "code"),
            "repairs": counts(&self.repairs, "rule"),
            "together": together.collect::<Value>(),
            "patterns": patterns.collect::<Value>(),
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "shares need no more than a double's digits")]
fn as_number(count: usize) -> f64 {
    count as f64
}

#[expect(clippy::cast_precision_loss, reason = "no run takes so many tokens")]
fn as_tokens(count: u64) -> f64 {
    count as f64
}

fn median(times: &[f64]) -> Option<f64> {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}

/// As people read it.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls: u64 = self.tools.values().map(|used| used.calls).sum();
        let (turns, calls) = (many(self.turns, "turn", "turns"), many(calls, "call", "calls"));
        write!(f, "{turns}, {}, {calls}", many(self.replies, "reply", "replies"))?;
        if self.retries > 0 {
            write!(f, ", {}", many(self.retries, "retry", "retries"))?;
        }
        if let (Some(input), Some(output)) = (self.usage.input_tokens, self.usage.output_tokens) {
            write!(f, ", {input} tokens in, {output} out")?;
        }
        f.write_char('\n')?;
        let width = self.tools.keys().map(|name| name.chars().count()).max().unwrap_or(0).max(4);
        if !self.tools.is_empty() {
            writeln!(
                f,
                "\n{:width$}  calls  refused  failed  repaired  median ms  tokens",
                "tool"
            )?;
        }
        for (name, used) in &self.tools {
            let ToolUse { calls, refused, failed, repaired, tokens, .. } = used;
            let time = median(&used.times).map_or_else(String::new, |time| format!("{time:.1}"));
            writeln!(
                f,
                "{name:width$}  {calls:5}  {refused:7}  {failed:6}  {repaired:8}  {time:>9}  \
                 {tokens:6.0}"
            )?;
        }
        counted(f, "refused", &self.refusals)?;
        counted(f, "repaired", &self.repairs)?;
        if !self.together.is_empty() {
            f.write_str("\ntogether\n")?;
        }
        for ((one, other), turns) in &self.together {
            writeln!(f, "  {one}, {other}: {}", many(*turns, "turn", "turns"))?;
        }
        if !self.patterns.is_empty() {
            f.write_str("\npatterns\n")?;
        }
        for Pattern { line, what, advice } in &self.patterns {
            writeln!(f, "  {what} (line {line}): {advice}")?;
        }
        Ok(())
    }
}

fn many(count: u64, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

fn counted(
    f: &mut fmt::Formatter<'_>,
    title: &str,
    counts: &BTreeMap<(String, String, String), u64>,
) -> fmt::Result {
    if counts.is_empty() {
        return Ok(());
    }
    writeln!(f, "\n{title}")?;
    let mut all: Vec<_> = counts.iter().collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for ((tool, place, kind), count) in all {
        let dot = if place.is_empty() { "" } else { "." };
        writeln!(f, "  {tool}{dot}{place}: {count} × {kind}")?;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
mod tests {
    use super::*;

    fn call(name: &str, verdict: &Value) -> String {
        json!({"type": "call", "agent": "a", "name": name, "ms": 2.0, "verdict": verdict})
            .to_string()
    }

    fn reply(names: &[&str], input: u64, output: u64) -> String {
        let calls: Vec<_> = names.iter().map(|name| json!({"name": name})).collect();
        let usage = json!({"input_tokens": input, "output_tokens": output});
        json!({"type": "reply", "agent": "a", "tool_calls": calls, "usage": usage}).to_string()
    }

    #[test]
    fn a_trace_is_summed_up() {
        let fine = json!({"ok": true, "result": "12345678", "repairs": []});
        let mended = json!({
            "ok": true, "result": "12345678",
            "repairs": [{"path": "limit", "rule": "text-to-integer"}],
        });
        let wrong = json!({"ok": false, "message": "x", "error": {
            "error_type": "validation_error",
            "errors": [{"property": "path", "error_code": "REQUIRED_FIELD"}],
        }});
        let user = r#"{"type": "user", "agent": "a", "content": "x"}"#.to_owned();
        let mut lines = vec![r#"{"type": "run", "agent": "a"}"#.to_owned(), user.clone()];
        let other = user.replace("\"a\"", "\"called\"");
        lines.extend([reply(&["list"], 100, 10), call("list", &fine)]);
        lines.extend([reply(&["read", "read", "read"], 150, 30)]);
        lines.extend([call("read", &fine), call("read", &mended), call("read", &wrong)]);
        lines.extend([reply(&[], 300, 20), user]);
        lines.extend(std::iter::repeat_n(call("read", &fine), 5));
        // An agent that is called: no turn of the user's.
        lines.push(other);
        let summary = Summary::read(&lines.join("\n")).unwrap();
        // 10 for the call, 40 for the result; 30 for the calls, 120 for the results.
        let tokens = |tool: &str| summary.tools[tool].tokens.round();
        assert_eq!((tokens("list"), tokens("read")), (50.0, 150.0));
        insta::assert_snapshot!(summary);
        assert_eq!(summary.json()["refusals"][0]["code"], "REQUIRED_FIELD");
    }

    #[test]
    fn what_is_no_trace_is_told() {
        assert_eq!(
            Summary::read("{}").unwrap_err(),
            (1, "a line of a trace has a `type`".to_owned())
        );
        assert_eq!(Summary::read("\n{\n").unwrap_err().0, 2);
    }
}
