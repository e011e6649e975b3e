//! Implementations with another signature than their tool.

use std::sync::Arc;

use gramc_model::{Tool, Types};
use smol_str::SmolStr;

use crate::invocation::{
    AnswerFuture, CloseFuture, ConnectFuture, Implementation, Invocation, RequestOrigin,
    SessionResources,
};
use gramc_calls::ArgumentMapping;

/// An implementation that gets other arguments than its tool.
#[derive(Debug)]
pub(super) struct Adapted {
    pub(super) implementation: Arc<dyn Implementation>,
    pub(super) mapping: Arc<ArgumentMapping>,
}

impl Implementation for Adapted {
    fn kind(&self) -> &'static str {
        self.implementation.kind()
    }

    fn invoke(&self, invocation: Invocation) -> AnswerFuture {
        let arguments = match invocation.object() {
            Ok(arguments) => arguments,
            Err(error) => return Box::pin(async { Err(error) }),
        };
        let mut mapped = self.mapping.apply(&arguments);
        // What the library injects is for the implementation, unless the mapping says where it goes.
        for name in invocation.hidden.iter().filter(|name| !self.mapping.names(name)) {
            if let Some(value) = arguments.get(name.as_str()) {
                mapped.entry(name.as_str()).or_insert_with(|| value.clone());
            }
        }
        let arguments = serde_json::Value::Object(mapped).to_string().into();
        self.implementation.invoke(Invocation { arguments, ..invocation })
    }

    fn counts(&self) -> bool {
        self.implementation.counts()
    }

    fn reports_progress(&self, origin: &RequestOrigin) -> bool {
        self.implementation.reports_progress(origin)
    }

    fn in_session(&self, resources: &SessionResources) -> Option<Arc<dyn Implementation>> {
        let implementation = self.implementation.in_session(resources)?;
        Some(Arc::new(Self { implementation, mapping: Arc::clone(&self.mapping) }))
    }

    fn for_tool(&self, types: &Types, tool: &Tool) -> Option<Arc<dyn Implementation>> {
        let implementation = self.implementation.for_tool(types, tool)?;
        Some(Arc::new(Self { implementation, mapping: Arc::clone(&self.mapping) }))
    }

    fn connect(&self) -> ConnectFuture {
        self.implementation.connect()
    }

    fn close(&self) -> CloseFuture {
        self.implementation.close()
    }

    fn fault(&self) -> Option<String> {
        self.implementation.fault()
    }

    fn secrets(&self) -> &[String] {
        self.implementation.secrets()
    }

    fn description(&self) -> Option<SmolStr> {
        self.implementation.description()
    }

    // The interfaces of the implementation, listed and declared, are not that of the tool.
}
