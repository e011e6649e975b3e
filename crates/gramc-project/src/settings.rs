//! The settings in `gram.toml`.

use std::ops::Range;
use std::sync::Arc;

use gramc_check::codes;
use gramc_lint::{Case, LINTS, Level, Lint, Settings};
use gramc_model::nearest::{nearest, question};
use gramc_schema::Target;
use gramc_syntax::Applicability::NeedsLook;
use gramc_syntax::{Diagnostic, Fix, SourceFile, Span};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::setting_keys::{BUDGET, FORMAT, PRICE, SETTINGS, SettingKey, WIDTH_RANGE};

/// The settings of a project.
#[derive(Debug, Clone, PartialEq)]
pub struct Project {
    /// Maximum line width of formatted text, in columns.
    pub width: u32,
    /// The lint settings.
    pub lints: Settings,
    /// The prices of models by name, in the order of the file.
    pub prices: Vec<(String, Price)>,
    /// The budget of each agent.
    pub budget: Budget,
}

/// Price of a million tokens, in the project's currency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Price of input tokens.
    pub input: f64,
    /// Price of output tokens.
    pub output: f64,
}

/// Limits for each agent of a project. `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budget {
    /// Maximum tokens of tool definitions in a request, before any container is expanded.
    pub tool_tokens: Option<u64>,
    /// Maximum tokens of tool definitions with all containers expanded.
    pub expanded_tool_tokens: Option<u64>,
    /// Maximum model calls per user message.
    pub model_calls: Option<u64>,
}

impl Default for Project {
    fn default() -> Self {
        Self {
            width: DEFAULT_WIDTH,
            lints: Settings::default(),
            prices: Vec::new(),
            budget: Budget::default(),
        }
    }
}

/// Default line width in columns.
const DEFAULT_WIDTH: u32 = 100;

/// Allowed limits of lints.
const LIMIT_RANGE: std::ops::RangeInclusive<i64> = 1..=1_000_000;

impl Project {
    /// Reads a project file. Invalid settings are reported and ignored.
    pub fn read(source: &Arc<SourceFile>) -> (Self, Vec<Diagnostic>) {
        let mut reader = Reader { source, project: Self::default(), found: Vec::new() };
        let (table, errors) = DeTable::parse_recoverable(source.text());
        // An unclosed bracket causes many errors, so only the first one is reported.
        for error in errors.into_iter().take(1) {
            let span = error.span().map_or(Span::empty(0), span);
            let message = format!("invalid TOML: {}", error.message().trim_end_matches('.'));
            reader.report(span, message, "fix the syntax; see https://toml.io");
        }
        reader.root(table.get_ref());
        reader.found.sort_by_key(|found| found.span().start);
        (reader.project, reader.found)
    }
}

type Value<'t> = Spanned<DeValue<'t>>;

struct Reader<'s> {
    source: &'s Arc<SourceFile>,
    project: Project,
    found: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn report(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        let error = Diagnostic::error(&codes::PROJECT_FILE, self.source, span, message);
        self.found.push(error.help(help));
    }

    /// Reports an unknown name and suggests a known one.
    fn report_unknown(&mut self, span: Span, message: String, word: &str, known: &[&str]) {
        let near = nearest(word, known.iter().copied());
        let help = question(&near).unwrap_or_else(|| format!("write one of {}", known.join(", ")));
        let mut error =
            Diagnostic::error(&codes::PROJECT_FILE, self.source, span, message).help(help);
        if let Some(near) = near.first() {
            let quoted = self.source.slice(span).starts_with(['"', '\'']);
            let text = if quoted { format!("\"{near}\"") } else { (*near).to_owned() };
            error = error.fix(Fix::replace(NeedsLook, format!("write `{near}`"), span, text));
        }
        self.found.push(error);
    }

    /// The table of a setting. Reports another value.
    fn table<'t>(
        &mut self,
        value: &'t Value<'t>,
        name: &str,
        wanted: &str,
    ) -> Option<&'t DeTable<'t>> {
        let DeValue::Table(table) = value.get_ref() else {
            self.report_invalid(value, name, wanted);
            return None;
        };
        Some(table)
    }

    /// The known keys of a table and their values. Reports unknown keys.
    fn entries<'t>(
        &mut self,
        table: &'t DeTable<'t>,
        known: &[SettingKey],
        place: &str,
    ) -> Vec<(&'t str, &'t Value<'t>)> {
        let mut entries = Vec::new();
        for (key, value) in table {
            let name = &**key.get_ref();
            if known.iter().any(|key| key.name == name) {
                entries.push((name, value));
                continue;
            }
            let names: Vec<_> = known.iter().map(|key| key.name).collect();
            let message = format!("unknown key `{name}`{place}");
            self.report_unknown(span(key.span()), message, name, &names);
        }
        entries
    }

    fn report_invalid(&mut self, value: &Value<'_>, what: &str, wanted: &str) {
        let message = format!("invalid `{what}`: expected {wanted}");
        self.report(span(value.span()), message, format!("write {wanted}"));
    }

    fn root(&mut self, table: &DeTable<'_>) {
        for (key, value) in self.entries(table, SETTINGS, "") {
            match key {
                "targets" => self.targets(value),
                "format" => self.format(value),
                "lints" => self.lints(value),
                "prices" => self.prices(value),
                _ => self.budget(value),
            }
        }
    }

    fn targets(&mut self, value: &Value<'_>) {
        let DeValue::Array(items) = value.get_ref() else {
            return self.report_invalid(
                value,
                "targets",
                "a list of targets, such as [\"openai\"]",
            );
        };
        for item in items {
            let Some(name) = item.get_ref().as_str() else {
                self.report_invalid(item, "targets", "target names in quotes");
                continue;
            };
            if let Some(target) = Target::from_name(name) {
                self.project.lints.targets.push(target);
                continue;
            }
            let message = format!("unknown target `{name}`");
            self.report_unknown(span(item.span()), message, name, &Target::ALL.map(Target::name));
        }
    }

    fn format(&mut self, value: &Value<'_>) {
        let Some(table) = self.table(value, "format", "a table") else { return };
        for (_, value) in self.entries(table, FORMAT, " in `format`") {
            match number(value).filter(|number| WIDTH_RANGE.contains(number)) {
                Some(width) => self.project.width = u32::try_from(width).unwrap_or(DEFAULT_WIDTH),
                None => self.report_invalid(value, "width", "a number of columns from 20 to 1000"),
            }
        }
    }

    fn prices(&mut self, value: &Value<'_>) {
        let wanted = "a table of models and their prices";
        let Some(table) = self.table(value, "prices", wanted) else { return };
        for (model, value) in table {
            let model = &**model.get_ref();
            let wanted = "a price per million tokens, such as { input = 0.15, output = 0.6 }";
            let Some(both) = self.table(value, model, wanted) else { continue };
            let (mut input, mut output) = (None, None);
            for (key, value) in self.entries(both, PRICE, " in a price") {
                let price = if key == "input" { &mut input } else { &mut output };
                *price = money(value);
                if price.is_none() {
                    self.report_invalid(value, key, "a number of at least 0");
                }
            }
            if let (Some(input), Some(output)) = (input, output) {
                self.project.prices.push((model.to_owned(), Price { input, output }));
            } else if both.len() < 2 {
                self.report_invalid(value, model, wanted);
            }
        }
    }

    fn budget(&mut self, value: &Value<'_>) {
        let Some(table) = self.table(value, "budget", "a table") else { return };
        for (name, value) in self.entries(table, BUDGET, " in `budget`") {
            let budget = &mut self.project.budget;
            let limit = match name {
                "tool-tokens" => &mut budget.tool_tokens,
                "expanded-tool-tokens" => &mut budget.expanded_tool_tokens,
                _ => &mut budget.model_calls,
            };
            let number = number(value).and_then(|number| u64::try_from(number).ok());
            match number.filter(|number| *number > 0) {
                Some(number) => *limit = Some(number),
                None => self.report_invalid(value, name, "a number of at least 1"),
            }
        }
    }

    fn lints(&mut self, value: &Value<'_>) {
        let wanted = "a table of lints and their levels";
        let Some(table) = self.table(value, "lints", wanted) else { return };
        for (key, value) in table {
            let name = &**key.get_ref();
            if let Some(rule) = Lint::of(name) {
                self.lint(rule, value);
                continue;
            }
            let place = span(key.span());
            if gramc_lint::all_codes().any(|code| code.name == name) {
                let message = format!("cannot set a level for the error `{name}`");
                self.report(place, message, "remove the line");
                continue;
            }
            let known: Vec<_> = LINTS.iter().map(|rule| rule.code.name).collect();
            let message = format!("unknown lint `{name}`");
            if nearest(name, known.iter().copied()).is_empty() {
                self.report(place, message, "`gramc explain` lists all lints");
            } else {
                self.report_unknown(place, message, name, &known);
            }
        }
    }

    fn lint(&mut self, rule: &'static Lint, value: &Value<'_>) {
        match value.get_ref() {
            DeValue::String(_) => self.level(rule, value),
            DeValue::Table(table) => {
                for (key, value) in table {
                    let name = &**key.get_ref();
                    if name == "level" {
                        self.level(rule, value);
                    } else if rule.options.iter().any(|option| option.name == name) {
                        self.option(rule, name, value);
                    } else {
                        let message = format!("unknown setting `{name}` of `{}`", rule.code.name);
                        let options = rule.options.iter().map(|option| option.name);
                        let known: Vec<_> = std::iter::once("level").chain(options).collect();
                        self.report_unknown(span(key.span()), message, name, &known);
                    }
                }
            }
            _ => self.report_invalid(value, rule.code.name, "\"allow\", \"warn\" or \"deny\""),
        }
    }

    fn level(&mut self, rule: &'static Lint, value: &Value<'_>) {
        let Some(name) = value.get_ref().as_str() else {
            return self.report_invalid(value, "level", "\"allow\", \"warn\" or \"deny\"");
        };
        if let Some(level) = Level::from_name(name) {
            self.project.lints.set(rule, level);
        } else {
            let message = format!("unknown level `{name}`");
            self.report_unknown(span(value.span()), message, name, &Level::ALL.map(Level::name));
        }
    }

    fn option(&mut self, rule: &'static Lint, name: &str, value: &Value<'_>) {
        if rule.code.name == "naming" {
            return self.case(name, value);
        }
        let limit = number(value).filter(|number| LIMIT_RANGE.contains(number));
        let Some(limit) = limit.and_then(|limit| usize::try_from(limit).ok()) else {
            return self.report_invalid(value, name, "a number of at least 1");
        };
        let lints = &mut self.project.lints;
        match rule.code.name {
            "description-too-long" => lints.max_description = limit,
            "too-many-parameters" => lints.max_parameters = limit,
            _ => lints.max_tools = limit,
        }
    }

    fn case(&mut self, name: &str, value: &Value<'_>) {
        let known = Case::ALL.map(Case::name);
        let Some(word) = value.get_ref().as_str() else {
            return self.report_invalid(value, name, "a case in quotes, such as \"camelCase\"");
        };
        let Some(case) = Case::from_name(word) else {
            let message = format!("unknown case `{word}`");
            return self.report_unknown(span(value.span()), message, word, &known);
        };
        let lints = &mut self.project.lints;
        let slot = if name == "tools" { &mut lints.tool_case } else { &mut lints.parameter_case };
        *slot = Some(case);
    }
}

fn number(value: &Value<'_>) -> Option<i64> {
    let number = value.get_ref().as_integer()?;
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// An amount of money: a number of at least 0.
fn money(value: &Value<'_>) -> Option<f64> {
    let amount = match value.get_ref() {
        DeValue::Float(number) => number.as_str().parse().ok()?,
        _ => f64::from(u32::try_from(number(value)?).ok()?),
    };
    (amount.is_finite() && amount >= 0.0).then_some(amount)
}

fn span(range: Range<usize>) -> Span {
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Span::new(offset(range.start), offset(range.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Project, Vec<String>) {
        let source = Arc::new(SourceFile::new("gram.toml", text));
        let (project, found) = Project::read(&source);
        let show = |found: Diagnostic| {
            format!("{} -> {}", found.concise(), found.help.unwrap_or_default())
        };
        (project, found.into_iter().map(show).collect())
    }

    #[test]
    fn all_settings_are_read() {
        let (project, found) = read(
            "targets = ['gemini', 'mcp']\nformat.width = 0x50\n[lints]\nnaming = {level = 'deny', \
             tools = 'snake_case', parameters = 'camelCase'}\ntoo-many-tools.max = 40\n\
             too-many-parameters = {max = 5}\ndescription-too-long = {max = 300}\n\
             portable-gemini = 'allow'\n[budget]\ntool-tokens = 2_000\nmodel-calls = 40\n",
        );
        assert!(found.is_empty(), "{found:?}");
        let Project { width, lints, budget, .. } = project;
        assert_eq!((budget.tool_tokens, budget.expanded_tool_tokens), (Some(2_000), None));
        assert_eq!(budget.model_calls, Some(40));
        assert_eq!((width, lints.max_tools, lints.max_parameters), (80, 40, 5));
        assert_eq!((lints.max_description, lints.targets.len()), (300, 2));
        assert_eq!((lints.tool_case, lints.parameter_case), (Some(Case::Snake), Some(Case::Camel)));
        let level = |name| Lint::of(name).map(|rule| lints.level(rule));
        assert_eq!(level("naming"), Some(Level::Deny));
        assert_eq!(level("portable-gemini"), Some(Level::Allow));
        assert_eq!(level("portable-mcp"), Some(Level::Warn));
        assert_eq!(level("portable-openai"), Some(Level::Allow));
        assert_eq!(level("result-not-object"), Some(Level::Warn));
    }

    #[test]
    fn each_mistake_has_a_span_and_a_help() {
        let (project, found) = read(
            "tagets = []\ntargets = ['opanai', 5]\n[format]\nwidth = 5\nindent = 4\n[lints]\n\
             namng = 'warn'\nnaming = 'forbid'\nunknown-type = 'allow'\ntoo-many-tools = {max = -1}\n\
             unused-type = {max = 1}\nqqq = 'warn'\nshadowed-type = 7\n[budget]\ntokens = 5\n\
             model-calls = 0\n",
        );
        assert_eq!(project.width, 100);
        assert_eq!(
            found,
            [
                "gram.toml:1:1: error[project-file] unknown key `tagets` -> did you mean `targets`?",
                "gram.toml:2:12: error[project-file] unknown target `opanai` -> did you mean `openai`?",
                "gram.toml:2:22: error[project-file] invalid `targets`: expected target names in quotes -> write target names in quotes",
                "gram.toml:4:9: error[project-file] invalid `width`: expected a number of columns from 20 to 1000 -> write a number of columns from 20 to 1000",
                "gram.toml:5:1: error[project-file] unknown key `indent` in `format` -> write one of width",
                "gram.toml:7:1: error[project-file] unknown lint `namng` -> did you mean `naming`?",
                "gram.toml:8:10: error[project-file] unknown level `forbid` -> write one of allow, warn, deny",
                "gram.toml:9:1: error[project-file] cannot set a level for the error `unknown-type` -> remove the line",
                "gram.toml:10:25: error[project-file] invalid `max`: expected a number of at least 1 -> write a number of at least 1",
                "gram.toml:11:16: error[project-file] unknown setting `max` of `unused-type` -> write one of level",
                "gram.toml:12:1: error[project-file] unknown lint `qqq` -> `gramc explain` lists all lints",
                "gram.toml:13:17: error[project-file] invalid `shadowed-type`: expected \"allow\", \"warn\" or \"deny\" -> write \"allow\", \"warn\" or \"deny\"",
                "gram.toml:15:1: error[project-file] unknown key `tokens` in `budget` -> write one of tool-tokens, expanded-tool-tokens, model-calls",
                "gram.toml:16:15: error[project-file] invalid `model-calls`: expected a number of at least 1 -> write a number of at least 1",
            ]
        );
    }

    #[test]
    fn prices_are_read() {
        let (project, found) = read(
            "[prices]\n'openai/gpt-4o-mini' = {input = 0.15, output = 1}\nfree = {input = 0}\n\
             odd = {input = -1, outptu = 2, output = 2.5}\nfull = 3\n",
        );
        let price = Price { input: 0.15, output: 1.0 };
        assert_eq!(project.prices, [("openai/gpt-4o-mini".to_owned(), price)]);
        assert_eq!(
            found,
            [
                "gram.toml:3:8: error[project-file] invalid `free`: expected a price per million tokens, such as { input = 0.15, output = 0.6 } -> write a price per million tokens, such as { input = 0.15, output = 0.6 }",
                "gram.toml:4:16: error[project-file] invalid `input`: expected a number of at least 0 -> write a number of at least 0",
                "gram.toml:4:20: error[project-file] unknown key `outptu` in a price -> did you mean `output`?",
                "gram.toml:5:8: error[project-file] invalid `full`: expected a price per million tokens, such as { input = 0.15, output = 0.6 } -> write a price per million tokens, such as { input = 0.15, output = 0.6 }",
            ]
        );
    }

    #[test]
    fn invalid_toml_is_reported_and_the_rest_is_read() {
        let (project, found) = read("[lints\nnaming = 'deny'\n[format]\nwidth = 60\n");
        assert_eq!(project.width, 60);
        assert!(!found.is_empty() && found[0].contains("invalid TOML"), "{found:?}");
    }
}
