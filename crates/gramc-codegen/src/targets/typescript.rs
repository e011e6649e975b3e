//! TypeScript declarations.

use gramc_schema::typescript;

use super::{Emission, EmitError, EmitInput, EmittedOutput, Emitter};

/// The target `typescript`.
#[derive(Debug)]
pub(super) struct TypeScript;

impl Emitter for TypeScript {
    fn name(&self) -> &'static str {
        typescript::NAME
    }

    fn about(&self) -> &'static str {
        typescript::ABOUT
    }

    fn page(&self) -> String {
        typescript::page()
    }

    fn emit<'m>(&self, input: &EmitInput<'_, 'm>) -> Result<Emission<'m>, EmitError> {
        let tools = input.entries.iter().map(|entry| input.compilation.source(*entry));
        let text = typescript::declarations(tools.collect());
        let output = EmittedOutput::Text { file: "tools.ts".to_owned(), text };
        Ok(Emission { warnings: Vec::new(), losses: Vec::new(), output })
    }
}
