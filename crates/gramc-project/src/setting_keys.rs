//! The keys of `gram.toml`: one table for the reader, the published schema and the manual.

use std::ops::RangeInclusive;

/// A key of `gram.toml`.
#[derive(Debug, Clone, Copy)]
pub struct SettingKey {
    /// The key, as written.
    pub name: &'static str,
    /// What it sets, as in the manual.
    pub documentation: &'static str,
    /// The value that it expects.
    pub value: SettingValue,
}

/// The kind of value of a key.
#[derive(Debug, Clone, Copy)]
pub enum SettingValue {
    /// A table with these keys.
    Table(&'static [SettingKey]),
    /// A table whose keys are the names of models, each with a table of these keys.
    Models(&'static [SettingKey]),
    /// A table whose keys are the names of lints, each with a level, or a table of `level` and the
    /// options of the lint.
    Lints,
    /// A list of targets.
    Targets,
    /// A whole number in a range.
    Number(&'static RangeInclusive<i64>),
    /// An amount of money, at least 0.
    Amount,
}

/// Allowed line widths.
pub(crate) const WIDTH_RANGE: RangeInclusive<i64> = 20..=1000;

/// Allowed limits of a budget.
pub(crate) const BUDGET_RANGE: RangeInclusive<i64> = 1..=i64::MAX;

/// The keys at the top level of `gram.toml`.
pub const SETTINGS: &[SettingKey] = &[
    SettingKey {
        name: "targets",
        documentation: "Targets that the project compiles to. Turns on the lint `portable-…` of each.",
        value: SettingValue::Targets,
    },
    SettingKey {
        name: "format",
        documentation: "How `gramc fmt` formats files.",
        value: SettingValue::Table(FORMAT),
    },
    SettingKey {
        name: "lints",
        documentation: "Level of a lint, or a table with its level and its settings.",
        value: SettingValue::Lints,
    },
    SettingKey {
        name: "budget",
        documentation: "Maximum cost of each agent.",
        value: SettingValue::Table(BUDGET),
    },
    SettingKey {
        name: "prices",
        documentation: "Price of a million input and output tokens of a model, in your currency. Used by experiments.",
        value: SettingValue::Models(PRICE),
    },
];

/// The keys of `format`.
pub(crate) const FORMAT: &[SettingKey] = &[SettingKey {
    name: "width",
    documentation: "Maximum line width [default: 100].",
    value: SettingValue::Number(&WIDTH_RANGE),
}];

/// The keys of `budget`.
pub(crate) const BUDGET: &[SettingKey] = &[
    SettingKey {
        name: "tool-tokens",
        documentation: "Tokens of the tool definitions in a request, with all containers collapsed.",
        value: SettingValue::Number(&BUDGET_RANGE),
    },
    SettingKey {
        name: "expanded-tool-tokens",
        documentation: "Tokens of the tool definitions in a request, with all containers expanded.",
        value: SettingValue::Number(&BUDGET_RANGE),
    },
    SettingKey {
        name: "model-calls",
        documentation: "Model requests per message of the user.",
        value: SettingValue::Number(&BUDGET_RANGE),
    },
];

pub(crate) const PRICE: &[SettingKey] = &[
    SettingKey {
        name: "input",
        documentation: "Price of a million input tokens.",
        value: SettingValue::Amount,
    },
    SettingKey {
        name: "output",
        documentation: "Price of a million output tokens.",
        value: SettingValue::Amount,
    },
];

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gramc_lint::{Case, LINTS, Level, Lint, LintOption};
    use gramc_schema::Target;
    use gramc_syntax::SourceFile;
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::Project;

    /// All keys with the tables that contain them.
    fn all_keys() -> Vec<(String, SettingKey)> {
        let mut found = Vec::new();
        for key in SETTINGS {
            found.push((String::new(), *key));
            match key.value {
                SettingValue::Table(keys) => {
                    found.extend(keys.iter().map(|inner| (key.name.to_owned(), *inner)));
                }
                SettingValue::Models(keys) => {
                    found.extend(keys.iter().map(|inner| (format!("{}.m", key.name), *inner)));
                }
                _ => {}
            }
        }
        found
    }

    fn errors(text: String) -> Vec<String> {
        let (_, found) = Project::read(&Arc::new(SourceFile::new("gram.toml", text)));
        found.into_iter().map(|found| found.message).collect()
    }

    #[test]
    fn the_reader_accepts_each_key_and_checks_its_value() {
        for (table, key) in all_keys() {
            let line = |value: &str| {
                let header = if table.is_empty() { String::new() } else { format!("[{table}]\n") };
                // A price needs both of its keys.
                let rest = match (table.as_str(), key.name) {
                    ("prices.m", "input") => "\noutput = 1",
                    ("prices.m", _) => "\ninput = 1",
                    _ => "",
                };
                errors(format!("{header}{} = {value}{rest}\n", key.name))
            };
            let (good, bad) = match key.value {
                SettingValue::Table(_) | SettingValue::Models(_) | SettingValue::Lints => {
                    ("{}".to_owned(), "7".to_owned())
                }
                SettingValue::Targets => ("['mcp']".to_owned(), "['mpc']".to_owned()),
                SettingValue::Number(range) => (range.start().to_string(), "0".to_owned()),
                SettingValue::Amount => ("0".to_owned(), "-1".to_owned()),
            };
            assert_eq!(line(&good), [""; 0], "{table} {}", key.name);
            assert_eq!(line(&bad).len(), 1, "{table} {}", key.name);
        }
    }

    fn level(lint: &Lint) -> Value {
        json!({
            "description": format!("Level of the lint [default: {}].", lint.level.name()),
            "enum": Level::ALL.map(Level::name),
        })
    }

    fn option(option: &LintOption) -> Value {
        let LintOption { about, default, .. } = option;
        let (first, rest) = about.split_at(1);
        let text = format!("{}{rest} [default: {default}].", first.to_uppercase());
        if default.parse::<u32>().is_ok() {
            json!({"description": text, "type": "integer", "minimum": 1, "maximum": 1_000_000})
        } else {
            json!({"description": text, "enum": Case::ALL.map(Case::name)})
        }
    }

    fn lint_schema(lint: &'static Lint) -> (String, Value) {
        let level = level(lint);
        let options = lint.options.iter().map(|it| (it.name.to_owned(), option(it)));
        let own = std::iter::once(("level".to_owned(), level.clone()));
        let keys: Map<_, _> = own.chain(options).collect();
        let table = json!({"type": "object", "additionalProperties": false, "properties": keys});
        let text = format!("{}.", lint.code.summary());
        (lint.code.name.to_owned(), json!({"description": text, "anyOf": [level, table]}))
    }

    fn table_schema(keys: &[SettingKey]) -> Value {
        let keys: Map<_, _> =
            keys.iter().map(|key| (key.name.to_owned(), schema_of(key))).collect();
        json!({"type": "object", "additionalProperties": false, "properties": keys})
    }

    /// The schema of the value of a key.
    fn schema_of(key: &SettingKey) -> Value {
        let mut schema = match key.value {
            SettingValue::Table(keys) => table_schema(keys),
            SettingValue::Models(keys) => {
                let mut table = table_schema(keys);
                table["required"] = keys.iter().map(|key| key.name).collect();
                json!({"type": "object", "additionalProperties": table})
            }
            SettingValue::Lints => {
                let lints: Map<_, _> = LINTS.iter().map(|lint| lint_schema(lint)).collect();
                json!({"type": "object", "additionalProperties": false, "properties": lints})
            }
            SettingValue::Targets => {
                json!({"type": "array", "items": {"enum": Target::ALL.map(Target::name)}})
            }
            SettingValue::Number(range) if *range.end() == i64::MAX => {
                json!({"type": "integer", "minimum": range.start()})
            }
            SettingValue::Number(range) => {
                json!({"type": "integer", "minimum": range.start(), "maximum": range.end()})
            }
            SettingValue::Amount => json!({"type": "number", "minimum": 0}),
        };
        schema["description"] = key.documentation.into();
        schema
    }

    #[test]
    fn the_published_schema_describes_each_key() {
        let mut schema = table_schema(SETTINGS);
        schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
        schema["title"] = "gram.toml".into();
        schema["description"] = "The settings of a gram project.".into();
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../grammar/gram.schema.json");
        if std::env::var_os("UPDATE_PAGES").is_some() {
            let written = std::fs::write(path, format!("{schema:#}\n"));
            assert!(written.is_ok(), "{written:?}");
        } else {
            let stored = std::fs::read_to_string(path).unwrap_or_default();
            let stored: Value = serde_json::from_str(&stored).unwrap_or_default();
            assert_eq!(stored, schema, "{path}: UPDATE_PAGES=1 writes it");
        }
    }

    #[test]
    fn the_manual_documents_each_key() {
        let page = include_str!("../../../docs/projects.md");
        let block = page.split("```").find(|block| block.starts_with("toml\n# Targets"));
        let block = block.unwrap_or_default().trim_start_matches("toml\n");
        assert_eq!(errors(block.to_owned()), [""; 0]);
        // Documentation is the comment before a key, on one or several lines.
        let comments: String = block
            .lines()
            .map(|line| line.trim_start_matches("# "))
            .fold(String::new(), |text, line| text + line + " ");
        for (table, key) in all_keys() {
            let wanted = match key.value {
                // The comment on a table of prices is about both of its keys.
                SettingValue::Amount => key.name,
                _ => key.documentation,
            };
            assert!(comments.contains(wanted), "{table} {}: {wanted}", key.name);
            assert!(block.contains(key.name), "{table} {}", key.name);
        }
    }
}
