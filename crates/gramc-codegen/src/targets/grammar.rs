//! Grammars of calls.

use gramc_grammar::{Grammar, Syntax, ToolSchema};

use super::{Emission, EmitError, EmitInput, EmittedOutput, Emitter, ToolText};

impl Emitter for Syntax {
    fn name(&self) -> &'static str {
        Self::name(*self)
    }

    fn about(&self) -> &'static str {
        Self::about(*self)
    }

    fn page(&self) -> String {
        gramc_grammar::page(*self)
    }

    /// Derives the grammar of the arguments of one tool, or of a call of any tool; for a folder, a
    /// grammar of the arguments of each.
    fn emit<'m>(&self, input: &EmitInput<'_, 'm>) -> Result<Emission<'m>, EmitError> {
        let tools = input.entries.iter().map(|entry| ToolSchema::new(input.compilation, *entry));
        let tools: Vec<_> = tools.collect();
        let grammars: Vec<Grammar> = match &tools[..] {
            tools if input.is_folder => {
                tools.iter().map(Grammar::of_arguments).collect::<Result<_, _>>()?
            }
            [tool] if input.is_one_tool => vec![Grammar::of_arguments(tool)?],
            tools => vec![Grammar::of_calls(tools)?],
        };
        let omitted = grammars.iter().flat_map(Grammar::left_out);
        let warning = |tool| format!("{}: no call of `{tool}` can be derived", Self::name(*self));
        let warnings = omitted.map(warning).collect();
        let losses = grammars.iter().flat_map(Grammar::losses).cloned().collect();
        let output = if input.is_folder {
            let entries = input.entries.iter().zip(&grammars);
            let texts = entries.map(|(entry, grammar)| ToolText {
                tool: entry.name(),
                extension: Self::name(*self),
                text: grammar.print(*self),
            });
            EmittedOutput::Texts(texts.collect())
        } else {
            let text = grammars.iter().map(|grammar| grammar.print(*self)).collect();
            EmittedOutput::Text { file: format!("tools.{}", Self::name(*self)), text }
        };
        Ok(Emission { warnings, losses, output })
    }
}
