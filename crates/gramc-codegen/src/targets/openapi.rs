//! A document of `OpenAPI`.

use gramc_openapi::emit;

use super::{Emission, EmitError, EmitInput, EmittedOutput, Emitter};

/// The target `openapi`.
#[derive(Debug)]
pub(super) struct OpenApi;

impl Emitter for OpenApi {
    fn name(&self) -> &'static str {
        emit::NAME
    }

    fn about(&self) -> &'static str {
        emit::ABOUT
    }

    fn page(&self) -> String {
        emit::page()
    }

    fn expands_containers(&self) -> bool {
        // Containers are tags.
        true
    }

    fn emit<'m>(&self, input: &EmitInput<'_, 'm>) -> Result<Emission<'m>, EmitError> {
        let EmitInput { title, module, compilation, entries, .. } = input;
        let emit::Document { value, losses } = emit::document(title, *module, compilation, entries);
        let output = EmittedOutput::Json { file: "openapi.json".to_owned(), value };
        Ok(Emission { warnings: Vec::new(), losses, output })
    }
}
