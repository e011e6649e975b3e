//! Tools and types in the JSON format of a provider.

use gramc_schema::Target;
use gramc_schema::emit::Compiled;
use rayon::prelude::*;

use super::{
    Emission, EmitError, EmitInput, EmittedOutput, EmittedTool, Emitter, exceeded_limits,
    output_type,
};

/// The entries from which on another thread is worth its start.
const MIN_PER_THREAD: usize = 200;

/// A target for tools, or for a type as structured output.
#[derive(Debug)]
pub(super) struct ProviderTarget(pub(super) Target);

impl Emitter for ProviderTarget {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn about(&self) -> &'static str {
        self.0.spec().about
    }

    fn page(&self) -> String {
        gramc_schema::lower::page(self.0)
    }

    fn schemas(&self) -> Target {
        self.0
    }

    fn compiles_type(&self) -> bool {
        self.0.spec().shape.is_output()
    }

    fn emit<'m>(&self, input: &EmitInput<'_, 'm>) -> Result<Emission<'m>, EmitError> {
        if self.compiles_type() {
            return output_type::emit(self.0, input);
        }
        let entries = input.entries.par_iter().with_min_len(MIN_PER_THREAD);
        let tools = entries.map(|entry| EmittedTool {
            name: entry.name(),
            compiled: input.compilation.compile(*entry),
        });
        let tools: Vec<_> = tools.collect();
        let values: Vec<_> = tools.iter().filter_map(|tool| tool.compiled.json()).collect();
        let warnings = exceeded_limits(self.0, &values);
        let losses = tools.iter().map(|tool| &tool.compiled).flat_map(Compiled::losses);
        let losses = if input.needs_losses { losses.cloned().collect() } else { Vec::new() };
        Ok(Emission { warnings, losses, output: EmittedOutput::Tools(tools) })
    }
}
