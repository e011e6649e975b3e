//! Grammars of calls.

use gramc_schema::lower::{Became, Loss};
use serde_json::Value;

use crate::rules::{Expr, ExprExt as _, Rules};
use crate::schema::{self, ToolSchema};
use crate::syntax::Syntax;
use crate::{gbnf, lark};

/// Names that the notations need.
const RESERVED: [&str; 3] = ["root", "start", "char"];

/// What the loss of a whole tool has in the place of a keyword.
const WHOLE: &str = "tool";

/// A grammar, and what it cannot derive.
#[derive(Debug, Clone)]
pub struct Grammar {
    pub(crate) rules: Rules,
    pub(crate) start: Expr,
    losses: Vec<Loss>,
}

/// Why there is no grammar.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GrammarError {
    /// No arguments of the tool can be derived.
    #[error("no arguments of `{tool}` have a grammar{}", after_semicolon(.reasons))]
    NoArguments {
        /// The name of the tool.
        tool: String,
        /// The keywords that cannot be derived.
        reasons: Vec<String>,
    },
    /// There is no tool that a call can be derived of.
    #[error("there is no tool whose calls have a grammar")]
    NoTools,
}

fn after_semicolon(reasons: &[String]) -> String {
    reasons.first().map_or_else(String::new, |reason| format!("; {reason}"))
}

impl Grammar {
    /// The grammar of the arguments of one tool, a JSON object.
    ///
    /// # Errors
    ///
    /// If no arguments can be derived.
    pub fn of_arguments(tool: &ToolSchema<'_>) -> Result<Self, GrammarError> {
        let mut rules = Rules::new(&RESERVED);
        let (arguments, losses) = schema::arguments(&mut rules, tool);
        let start = rules.prune(vec![arguments]).pop().unwrap_or(Expr::NEVER);
        if start.is_never() {
            let reasons = losses.iter().map(ToString::to_string).collect();
            return Err(GrammarError::NoArguments { tool: tool.name.to_owned(), reasons });
        }
        Ok(Self { rules, start, losses })
    }

    /// The grammar of one call of any of some tools: `{"name": …, "arguments": {…}}`. Tools whose
    /// arguments cannot be derived are left out, which is a loss.
    ///
    /// # Errors
    ///
    /// If no tool is left.
    pub fn of_calls(tools: &[ToolSchema<'_>]) -> Result<Self, GrammarError> {
        let mut rules = Rules::new(&RESERVED);
        let mut derived = Vec::with_capacity(tools.len());
        let mut losses = Vec::new();
        for tool in tools {
            let (arguments, lost) = schema::arguments(&mut rules, tool);
            losses.extend(lost);
            derived.push(arguments);
        }
        // What a tool derives shows only once all rules are pruned.
        let derived = rules.prune(derived);
        let mut calls = Vec::with_capacity(tools.len());
        for (tool, arguments) in tools.iter().zip(derived) {
            if arguments.is_never() {
                losses.push(left_out(tool));
                continue;
            }
            let call = call(&mut rules, tool.name, arguments);
            calls.push(rules.rule(&format!("call {}", tool.name), call));
        }
        let start = Expr::alt(calls);
        if start.is_never() {
            return Err(GrammarError::NoTools);
        }
        Ok(Self { rules, start, losses })
    }

    /// What the grammar cannot derive, by tool and in the order of its schema.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// The tools that are left out.
    pub fn left_out(&self) -> impl Iterator<Item = &str> {
        let whole = self.losses.iter().filter(|loss| loss.constraint == WHOLE);
        whole.map(|loss| loss.tool.as_str())
    }

    /// The grammar in a notation.
    pub fn print(&self, syntax: Syntax) -> String {
        match syntax {
            Syntax::Gbnf => gbnf::print(self),
            Syntax::Lark => lark::print(self),
        }
    }
}

/// `{"name": …, "arguments": …}`
fn call(rules: &mut Rules, name: &str, arguments: Expr) -> Expr {
    let (comma, colon) = (rules.comma(), rules.colon());
    Expr::seq([
        Expr::text("{"),
        Expr::text("\"name\""),
        colon.clone(),
        Expr::text(Value::from(name).to_string()),
        comma,
        Expr::text("\"arguments\""),
        colon,
        arguments,
        Expr::text("}"),
    ])
}

/// The loss of a whole tool.
fn left_out(tool: &ToolSchema<'_>) -> Loss {
    Loss {
        tool: tool.name.to_owned(),
        path: String::new(),
        constraint: WHOLE.to_owned(),
        value: tool.name.into(),
        became: Became::Narrowed { reason: "no call of the tool can be derived" },
    }
}
