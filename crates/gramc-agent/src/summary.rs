//! Summaries of traces: costs of tools, errors of calls, and patterns that another tool design would
//! avoid.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::message::{FinishReason, Reply, Usage};
use crate::trace::{
    self, CallLine, ErrorRecord, RepairRecord, TraceError, TraceLine, VerdictRecord,
};

/// Minimum consecutive calls of one tool that form a pattern.
const MIN_REPEATED_CALLS: usize = 5;
/// Minimum consecutive calls of one tool after a single call of another that form a pattern.
const MIN_FOLLOWING_CALLS: usize = 3;

/// Statistics of the calls of one tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolStats {
    /// The number of calls.
    pub calls: u64,
    /// Calls that were refused before they ran.
    pub refused: u64,
    /// Calls that ran and failed.
    pub failed: u64,
    /// Calls whose arguments were repaired.
    pub repaired: u64,
    /// The durations of the calls in milliseconds, in order.
    pub times: Vec<f64>,
    /// The tokens of its calls and results, as far as the provider reports them. The calls of one
    /// reply share its tokens evenly, and the tokens of their results by length.
    pub tokens: f64,
}

/// A sequence of calls that another tool design would avoid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallPattern {
    /// The line of the trace where the sequence starts, from 1.
    pub line: usize,
    /// A description.
    pub what: String,
    /// How to avoid it.
    pub advice: String,
}

/// The summary of a trace.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TraceSummary {
    /// The number of messages of the user.
    pub turns: u64,
    /// The number of replies of models.
    pub replies: u64,
    /// The number of retried model requests.
    pub retries: u64,
    /// The number of replies that a token limit or an error of the provider ended early.
    pub truncated: u64,
    /// The number of replies that a content filter stopped.
    pub filtered: u64,
    /// The tokens of all requests.
    pub usage: Usage,
    /// Statistics by tool.
    pub tools: BTreeMap<String, ToolStats>,
    /// Counts of errors by tool, parameter and code.
    pub refusals: BTreeMap<(String, String, String), u64>,
    /// Counts of repairs by tool, parameter and rule.
    pub repairs: BTreeMap<(String, String, String), u64>,
    /// Counts of turns that call both tools.
    pub together: BTreeMap<(String, String), u64>,
    /// Patterns, in order of their lines.
    pub patterns: Vec<CallPattern>,
}

/// The state of an agent between lines.
#[derive(Default)]
struct AgentState {
    /// The tools called in the current turn, with the lines of their calls.
    turn: Vec<(String, usize)>,
    /// The last reply, if it has calls.
    pending: Option<PendingReply>,
}

/// A reply whose calls are being counted.
struct PendingReply {
    input: u64,
    output: u64,
    /// The calls, with the lengths of their results.
    calls: Vec<(String, usize)>,
}

impl TraceSummary {
    /// Summarizes a trace.
    pub fn read(text: &str) -> Result<Self, TraceError> {
        let mut summary = Self::default();
        let mut agents: BTreeMap<String, AgentState> = BTreeMap::new();
        let mut first: Option<String> = None;
        for line in trace::read(text) {
            let (number, line) = line?;
            match line {
                TraceLine::Run { agent, .. } => first = Some(agent.into_owned()),
                TraceLine::User { agent, .. } => {
                    // Messages to called agents come from other agents.
                    summary.turns += u64::from(first.as_deref().is_none_or(|it| it == agent));
                    let state = agents.entry(agent.into_owned()).or_default();
                    summary.end_turn(&std::mem::take(&mut state.turn));
                }
                TraceLine::Reply { agent, reply, .. } => {
                    summary.add_reply(agents.entry(agent.into_owned()).or_default(), &reply);
                }
                TraceLine::Call(call) => {
                    let state = agents.entry(call.agent.clone().into_owned()).or_default();
                    let verdict = VerdictRecord::deserialize(&call.verdict);
                    let verdict = verdict.map_err(|error| TraceError {
                        line: number,
                        message: format!("invalid verdict: {error}"),
                    })?;
                    summary.add_call(state, &call, &verdict, number);
                }
                TraceLine::Retry { .. } => summary.retries += 1,
                _ => {}
            }
        }
        for (_, agent) in agents {
            summary.end_turn(&agent.turn);
        }
        summary.patterns.sort_by_key(|pattern| pattern.line);
        Ok(summary)
    }

    fn add_reply(&mut self, agent: &mut AgentState, reply: &Reply) {
        self.replies += 1;
        match reply.finish_reason {
            FinishReason::Stop | FinishReason::Stopped => {}
            FinishReason::Length | FinishReason::Error => self.truncated += 1,
            FinishReason::ContentFilter => self.filtered += 1,
        }
        let usage = reply.usage;
        self.usage.add(usage);
        let (input, output) = (usage.input_tokens.unwrap_or(0), usage.output_tokens.unwrap_or(0));
        // The input grows by the previous reply and the results of its calls.
        if let Some(PendingReply { input: before, output: reply, calls }) = agent.pending.take() {
            let results = input.saturating_sub(before.saturating_add(reply));
            let total: usize = calls.iter().map(|(_, length)| length).sum();
            for (name, length) in calls {
                let share = as_number(length) / as_number(total.max(1));
                self.tool(&name).tokens += as_tokens(results) * share;
            }
        }
        let calls = &reply.message.tool_calls;
        for call in calls {
            self.tool(&call.name).tokens += as_tokens(output) / as_number(calls.len());
        }
        // The tokens of a stopped reply are unknown.
        if !calls.is_empty() && usage.stopped.is_none() {
            agent.pending = Some(PendingReply { input, output, calls: Vec::new() });
        }
    }

    fn add_call(
        &mut self,
        agent: &mut AgentState,
        call: &CallLine<'_>,
        verdict: &VerdictRecord,
        line: usize,
    ) {
        // The model chooses the name, so it must not control the terminal.
        let name = call.name.replace(|c: char| c.is_control(), " ");
        let content = verdict.result.as_ref().or(verdict.message.as_ref());
        let length = content.map_or(0, |content| content.to_string().len());
        if let Some(pending) = &mut agent.pending {
            pending.calls.push((name.clone(), length));
        }
        let tool = self.tool(&name);
        tool.calls += 1;
        tool.times.push(call.ms);
        tool.repaired += u64::from(!verdict.repairs.is_empty());
        match verdict.error.as_ref().map(|error| &*error.error_type) {
            Some("invocation_error" | "timeout") => tool.failed += 1,
            Some(_) => tool.refused += 1,
            None => {}
        }
        for RepairRecord { path, rule } in &verdict.repairs {
            *self.repairs.entry((name.clone(), path.clone(), rule.clone())).or_default() += 1;
        }
        if let Some(ErrorRecord { error_type, errors }) = &verdict.error {
            let mut count = |property: &str, code: &str| {
                let key = (name.clone(), property.to_owned(), code.to_owned());
                *self.refusals.entry(key).or_default() += 1;
            };
            match errors {
                Some(errors) => errors.iter().for_each(|it| count(&it.property, &it.error_code)),
                None => count("", error_type),
            }
        }
        agent.turn.push((name, line));
    }

    fn tool(&mut self, name: &str) -> &mut ToolStats {
        self.tools.entry(name.to_owned()).or_default()
    }

    /// Counts pairs of tools of a turn and finds patterns.
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
                Some(&(lister, _, 1)) if count >= MIN_FOLLOWING_CALLS => {
                    self.patterns.push(CallPattern {
                        line,
                        what: format!("`{lister}` is followed by {count} calls of `{name}`"),
                        advice: format!(
                            "return the result of `{name}` from `{lister}`, or let `{name}` accept \
                         several items"
                        ),
                    });
                }
                _ if count >= MIN_REPEATED_CALLS => self.patterns.push(CallPattern {
                    line,
                    what: format!("`{name}` is called {count} times in a row"),
                    advice: format!("let `{name}` accept several items, or add a search tool"),
                }),
                _ => {}
            }
        }
    }

    /// The summary as a JSON object.
    pub fn json(&self) -> Value {
        let counts = |counts: &BTreeMap<(String, String, String), u64>, what: &str| -> Value {
            let entry = |((tool, place, kind), count): (&(String, String, String), &u64)| json!({"tool": tool, "parameter": place, what: kind, "count": count});
            counts.iter().map(entry).collect()
        };
        let tool = |(name, used): (&String, &ToolStats)| {
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
            "truncated": self.truncated, "filtered": self.filtered,
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

impl fmt::Display for TraceSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls: u64 = self.tools.values().map(|used| used.calls).sum();
        let (turns, calls) =
            (count_of(self.turns, "turn", "turns"), count_of(calls, "call", "calls"));
        write!(f, "{turns}, {}, {calls}", count_of(self.replies, "reply", "replies"))?;
        if self.retries > 0 {
            write!(f, ", {}", count_of(self.retries, "retry", "retries"))?;
        }
        let stopped = self.usage.stopped.unwrap_or(0);
        let ended = [(self.truncated, "truncated"), (self.filtered, "filtered")];
        for (count, what) in ended.into_iter().chain([(stopped, "stopped")]) {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
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
            let ToolStats { calls, refused, failed, repaired, tokens, .. } = used;
            let time = median(&used.times).map_or_else(String::new, |time| format!("{time:.1}"));
            writeln!(
                f,
                "{name:width$}  {calls:5}  {refused:7}  {failed:6}  {repaired:8}  {time:>9}  \
                 {tokens:6.0}"
            )?;
        }
        write_counts(f, "refused", &self.refusals)?;
        write_counts(f, "repaired", &self.repairs)?;
        if !self.together.is_empty() {
            f.write_str("\ntogether\n")?;
        }
        let mut together: Vec<_> = self.together.iter().collect();
        together.sort_by_key(|(_, turns)| std::cmp::Reverse(**turns));
        for ((one, other), turns) in together.iter().take(MAX_PAIRS) {
            writeln!(f, "  {one}, {other}: {}", count_of(**turns, "turn", "turns"))?;
        }
        if let Some(more) = together.len().checked_sub(MAX_PAIRS + 1) {
            let pairs = count_of(more as u64 + 1, "pair", "pairs");
            writeln!(f, "  and {pairs} more, which --format json lists")?;
        }
        if !self.patterns.is_empty() {
            f.write_str("\npatterns\n")?;
        }
        for CallPattern { line, what, advice } in &self.patterns {
            writeln!(f, "  {what} (line {line}): {advice}")?;
        }
        Ok(())
    }
}

/// The maximum number of pairs of tools that the text shows. There are as many as the square of the
/// number of tools.
const MAX_PAIRS: usize = 10;

fn count_of(count: u64, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

fn write_counts(
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
#[allow(clippy::unwrap_used, reason = "a failed step fails the test")]
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
    fn traces_are_summarized() {
        let fine = json!({"ok": true, "result": "12345678", "repairs": []});
        let repaired = json!({
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
        lines.extend([call("read", &fine), call("read", &repaired), call("read", &wrong)]);
        lines.extend([reply(&[], 300, 20), user]);
        lines.extend(std::iter::repeat_n(call("read", &fine), 5));
        // A message to a called agent is not a turn.
        lines.push(other);
        let summary = TraceSummary::read(&lines.join("\n")).unwrap();
        // `list`: 10 for the call, 40 for the result. `read`: 30 for the calls, 120 for the results.
        let tokens = |tool: &str| summary.tools[tool].tokens.round();
        assert_eq!((tokens("list"), tokens("read")), (50.0, 150.0));
        insta::assert_snapshot!(summary);
        assert_eq!(summary.json()["refusals"][0]["code"], "REQUIRED_FIELD");
    }

    #[test]
    fn the_most_frequent_pairs_are_shown() {
        let names: Vec<_> = (0..6).map(|number| format!("t{number}")).collect();
        let fine = json!({"ok": true, "result": 1, "repairs": []});
        let user = r#"{"type": "user", "agent": "a", "content": "x"}"#;
        let turn = |names: &[String]| {
            let calls = names.iter().map(|name| call(name, &fine));
            [user.to_owned()].into_iter().chain(calls).collect::<Vec<_>>()
        };
        let mut lines = vec![r#"{"type": "run", "agent": "a"}"#.to_owned()];
        lines.extend(turn(&names));
        lines.extend(turn(&names[4..]));
        let summary = TraceSummary::read(&lines.join("\n")).unwrap();
        let text = summary.to_string();
        let text = text.split("together\n").nth(1).unwrap();
        assert!(text.starts_with("  t4, t5: 2 turns\n  t0, t1: 1 turn\n"), "{text}");
        assert!(text.ends_with("  and 5 pairs more, which --format json lists\n"), "{text}");
        assert_eq!(text.lines().count(), 11);
        assert_eq!(summary.json()["together"].as_array().map(Vec::len), Some(15));
    }

    #[test]
    fn invalid_lines_are_reported() {
        let error = TraceSummary::read("{}").unwrap_err();
        assert_eq!(error.to_string(), "1: missing field `type`");
        assert_eq!(TraceSummary::read("\n{\n").unwrap_err().line, 2);
    }
}
