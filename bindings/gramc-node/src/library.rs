//! Libraries, and libraries that are bound to a specification.

use std::path::Path;
use std::sync::Arc;

use gramc_tools::BindProblem;
use gramc_tools::approval::{ApprovalPolicy, Approvals};
use gramc_tools::implementations::Function;
use gramc_tools::invocation::DeclaredInterface;
use napi::Env;
use napi::bindgen_prelude::{FnArgs, PromiseRaw, block_on, within_runtime_if_available};
use napi_derive::napi;
use serde_json::{Map, Value};

use crate::function::{AsyncFunction, FunctionCall, NumberFunction, StartFunction, run_function};
use crate::session::{Session, read_map};
use crate::specification::specification_error;
use crate::{Failure, failure, invalid_argument};

/// Asks about the call of a tool: its name, and the arguments as JSON text.
type ApproveFunction = AsyncFunction<FnArgs<(FunctionCall, String, String)>>;

/// Implementations of tools.
#[napi]
pub struct Library(Arc<gramc_host::Library>);

/// The details of a function that implements a tool.
#[napi(object)]
pub struct FunctionDetails {
    /// The schema of its parameters as JSON text, if it is known.
    pub parameters: Option<String>,
    /// Attributes of an implementation in gram as JSON text.
    pub attributes: String,
    /// Values of injected parameters as JSON text.
    pub injected: String,
    /// The version of the function's code, if it is known.
    pub code: Option<String>,
}

/// An object as JSON text.
fn map(text: &str) -> Result<Map<String, Value>, Failure> {
    serde_json::from_str(text).map_err(|error| invalid_argument(&error))
}

#[napi]
impl Library {
    /// An empty library. The settings are attributes of gram as JSON text.
    #[napi(constructor)]
    pub fn new(name: String, attributes: String) -> Result<Self, Failure> {
        Ok(Self(Arc::new(gramc_host::Library::new(&name, map(&attributes)?))))
    }

    /// The library that a file declares.
    #[napi(factory)]
    pub fn load(path: String, name: Option<String>) -> Result<Self, Failure> {
        gramc::watch_processes();
        let load = || gramc_host::Library::load(Path::new(&path), name.as_deref());
        let loaded = within_runtime_if_available(load);
        loaded.map(|it| Self(Arc::new(it))).map_err(|error| specification_error(&error))
    }

    /// Adds a function.
    #[napi]
    pub fn add(
        &self,
        name: String,
        #[napi(
            ts_arg_type = "(call: FunctionCall, arguments: string) => Promise<FunctionOutcome>"
        )]
        start: StartFunction,
        #[napi(ts_arg_type = "(number: number) => void")] cancel: NumberFunction,
        details: FunctionDetails,
    ) -> Result<(), Failure> {
        let FunctionDetails { parameters, attributes, injected, code } = details;
        let declared = match parameters {
            None => None,
            Some(text) => Some(DeclaredInterface::Schemas {
                parameters: serde_json::from_str(&text)
                    .map_err(|error| invalid_argument(&error))?,
                result: None,
            }),
        };
        let (start, cancel) = (Arc::new(start), Arc::new(cancel));
        let function = Function::new(move |arguments| {
            run_function(&start, &cancel, |call| FnArgs::from((call, arguments.to_string())))
        });
        let function = function.declaring(declared);
        self.0.add(&name, function, map(&attributes)?, map(&injected)?, code.as_deref());
        Ok(())
    }

    /// Starts the MCP servers of the library.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn connect<'env>(&self, env: &'env Env) -> napi::Result<PromiseRaw<'env, ()>> {
        let library = Arc::clone(&self.0);
        env.spawn_future(async move {
            library.connect().await;
            Ok(())
        })
    }
}

impl Library {
    pub(crate) fn bind(
        &self,
        specification: &gramc_host::Specification,
    ) -> Result<BoundLibrary, Failure> {
        block_on(self.0.connect());
        let bound = self.0.bind(specification);
        bound.map(|bound| BoundLibrary(Arc::new(bound))).map_err(|gaps| {
            let gaps: Value = gaps.iter().map(BindProblem::json).collect();
            failure("BindError", gaps.to_string())
        })
    }
}

/// A library with the specification that it implements.
#[napi]
pub struct BoundLibrary(pub(crate) Arc<gramc_host::BoundLibrary>);

#[napi]
impl BoundLibrary {
    /// Starts a conversation. `approve` is asked about calls that have to be approved; `injected` are
    /// values of injected parameters as JSON text.
    #[napi]
    pub fn session(
        &self,
        #[napi(
            ts_arg_type = "((call: FunctionCall, name: string, arguments: string) => Promise<FunctionOutcome>) | null"
        )]
        approve: Option<ApproveFunction>,
        #[napi(ts_arg_type = "(number: number) => void")] cancel: NumberFunction,
        injected: Option<String>,
    ) -> Session {
        let session = gramc_tools::Session::new(&self.0.bound)
            .with_injected(read_map(injected.as_deref()))
            .with_approvals(Approvals::new(ApprovalPolicy::Destructive));
        let Some(approve) = approve.map(Arc::new) else { return Session::new(session) };
        let cancel = Arc::new(cancel);
        Session::new(session.with_approvals(Approvals::of_function(move |request| {
            let (name, arguments) = (request.name.to_string(), request.arguments.to_string());
            run_function(&approve, &cancel, |call| FnArgs::from((call, name, arguments)))
        })))
    }

    /// Problems that do not prevent binding.
    #[napi(getter)]
    pub fn warnings(&self) -> Vec<String> {
        self.0.bound.warnings().iter().map(ToString::to_string).collect()
    }
}
