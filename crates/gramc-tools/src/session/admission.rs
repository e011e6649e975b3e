//! Decides whether a call may run: its name, the throttle and the check of its arguments.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};

use gramc_calls::check::{
    Accepted, InvalidArguments, MalformedArguments, Policy, Problem, Rejection, ToolCheck,
};
use gramc_model::ValueSource;
use serde_json::{Map, Value};
use smol_str::SmolStr;

use super::run::AdmittedCall;
use super::{Callers, Session, warnings};
use crate::bind::{CallTarget, texts};
use crate::invocation::{Implementation, RequestOrigin};
use crate::throttle::{CallOutcome, ThrottleTicket};
use crate::verdict::{Call, CallError, ReplyEnding, Success, Verdict, Warning};

/// The outcome of checking a call, before anything runs.
#[expect(clippy::large_enum_variant, reason = "it is looked at and gone")]
#[derive(Debug)]
pub enum Admission<'s> {
    /// The call is complete.
    Answered(Verdict),
    /// The call may run.
    Ready(Box<AdmittedCall<'s>>),
}

impl Session {
    /// Checks a call without running it.
    pub fn begin(&self, call: Call) -> Admission<'_> {
        self.begin_with(call, ToolCheck::check)
    }

    /// Checks a call like [`Self::begin`], its arguments by a function.
    pub(super) fn begin_with(
        &self,
        call: Call,
        check: impl FnOnce(&ToolCheck, &str, Policy) -> Result<Accepted, Rejection>,
    ) -> Admission<'_> {
        let Call { id, name, arguments, ending, injected, meta } = self.restore(call);
        let arguments = arguments.unwrap_or_else(|| "{}".to_owned());
        let refuse =
            |name: String, error| Admission::Answered(Verdict::new(id.clone(), name, Err(error)));
        // The model did not mean this call, so it does not count as an attempt.
        if let ReplyEnding::CutOff(why) = ending {
            return refuse(name, MalformedArguments::cut_off(&arguments, why).into());
        }
        let tool = match self.find(&name) {
            Some(CallTarget::Tool(tool)) => tool,
            Some(CallTarget::Container(container)) => {
                let outcome = self.call_container(container, &arguments);
                return Admission::Answered(Verdict::new(id, name, outcome));
            }
            None => {
                self.state.lock().count_unknown(self.bound.settings(None), self.clock.now());
                let error = self.unknown_tool(&name, false);
                return refuse(name, error);
            }
        };
        let settings = self.bound.settings(Some(tool));
        // Malformed arguments take precedence over a collapsed container, and count as a failure.
        if self.is_collapsed(tool) && self.find_malformed(tool, &arguments, ending).is_none() {
            self.state.lock().count_unknown(settings, self.clock.now());
            return refuse(name, self.not_expanded(tool));
        }
        let mut state = self.state.lock();
        // The clock is read under the lock, so that calls enter the windows in order.
        let admitted = state.throttle.admit(Some(tool), &settings.throttle, self.clock.now());
        drop(state);
        let mut ticket = match admitted {
            Ok(ticket) => ticket,
            Err(throttled) => {
                let malformed = self.find_malformed(tool, &arguments, ending);
                return refuse(name, malformed.unwrap_or_else(|| throttled.into()));
            }
        };
        let checked = self.check_arguments(tool, &arguments, ending, check);
        let mut state = self.state.lock();
        let hash = || hash_of(checked.as_ref().map_or(&arguments, |it| &it.arguments));
        let limit = match self.callers {
            Callers::Many => 0,
            Callers::Unknown | Callers::OneModel => settings.throttle.identical_calls,
        };
        let repetition = match state.throttle.check_repetition(&mut ticket, hash, limit) {
            Ok(repetition) => repetition,
            Err(throttled) => {
                state.throttle.withdraw(ticket);
                return refuse(name, throttled.into());
            }
        };
        drop(state);
        let mut warnings = Vec::from_iter(repetition.failed.then(|| Warning {
            code: "repeated-failure",
            message: format!("`{name}` just failed with the same arguments"),
        }));
        match checked {
            Ok(mut accepted) => {
                let injected = self.injected_values(tool, injected, &mut accepted.secrets);
                let masks = || self.bound.masks(tool, &accepted.secrets);
                let stripped = warnings::stripped_arguments(&accepted.stripped);
                warnings.extend(stripped.map(|warning| warning.mask(&masks())));
                let judged = self.external_validator(tool).is_none();
                if judged {
                    self.state.lock().note_acceptance(tool);
                }
                Admission::Ready(Box::new(AdmittedCall {
                    session: self,
                    tool,
                    id,
                    name,
                    accepted,
                    injected,
                    warnings,
                    judged,
                    approval: None,
                    ticket,
                    origin: RequestOrigin { meta, ..RequestOrigin::default() },
                }))
            }
            Err(error) => {
                let error = self.refuse(tool, ticket, &arguments, error);
                Admission::Answered(Verdict { warnings, ..Verdict::new(id, name, Err(error)) })
            }
        }
    }

    /// The values of injected parameters that the call or the session supplies. Secret ones are added
    /// to `secrets`.
    fn injected_values(
        &self,
        tool: u32,
        mut of_call: Map<String, Value>,
        secrets: &mut Vec<String>,
    ) -> Vec<(SmolStr, Value)> {
        if of_call.is_empty() && self.injected.is_empty() {
            return Vec::new();
        }
        let parameters = &self.bound.tool(tool).spec.parameters;
        let injected = parameters.iter().filter(|it| it.source == ValueSource::Injected);
        let supplied = injected.filter_map(|parameter| {
            let name = parameter.name.as_str();
            let value = of_call.remove(name).or_else(|| self.injected.get(name).cloned())?;
            if parameter.secret {
                texts(&value, secrets);
            }
            Some((parameter.name.clone(), value))
        });
        supplied.collect()
    }

    /// Records that a call was refused, and returns its error.
    pub(super) fn refuse(
        &self,
        tool: u32,
        ticket: ThrottleTicket,
        arguments: &str,
        error: CallError,
    ) -> CallError {
        let mut state = self.state.lock();
        let hash = || hash_of(arguments);
        state.throttle.finish(ticket, hash, CallOutcome::Failure, self.clock.now());
        // Errors of the host do not count as attempts of the model, and neither do those of others.
        let is_the_models =
            !matches!(error, CallError::Invocation { .. }) && self.callers != Callers::Many;
        let attempts = if is_the_models { state.note_refusal(tool) } else { 0 };
        drop(state);
        match self.bound.settings(Some(tool)).max_attempts {
            most if most > 0 && attempts >= most => {
                CallError::NeedsHumanReview { attempts, last: Box::new(error) }
            }
            _ => error,
        }
    }

    /// The validator of a tool's calls that is a program or a service.
    pub(super) fn external_validator(&self, tool: u32) -> Option<&dyn Implementation> {
        self.bound.tool(tool).entry.as_ref()?.external_validator.as_deref()
    }

    /// Checks a single call without running or recording it. All containers count as expanded.
    pub fn validate(&self, call: Call) -> Verdict {
        let Call { id, name, arguments, ending, .. } = self.restore(call);
        let arguments = arguments.unwrap_or_else(|| "{}".to_owned());
        if let ReplyEnding::CutOff(why) = ending {
            let error = MalformedArguments::cut_off(&arguments, why).into();
            return Verdict::new(id, name, Err(error));
        }
        let mut warnings = Vec::new();
        let outcome = match self.find(&name) {
            Some(CallTarget::Tool(tool)) => {
                self.check_arguments(tool, &arguments, ending, ToolCheck::check).map(|accepted| {
                    let masks = self.bound.masks(tool, &accepted.secrets);
                    let found = warnings::omitted_defaults(&accepted.omitted_defaults)
                        .into_iter()
                        .chain(warnings::of_arguments(&accepted.arguments))
                        .chain(warnings::stripped_arguments(&accepted.stripped));
                    warnings.extend(found.map(|warning| warning.mask(&masks)));
                    let spec = &self.bound.tool(tool).spec;
                    let arguments = masks.arguments(spec, &accepted.arguments).into_owned();
                    Success::new(accepted, arguments)
                })
            }
            Some(CallTarget::Container(container)) => {
                self.validate_container(container, &arguments)
            }
            None => Err(self.unknown_tool(&name, true)),
        };
        Verdict { warnings, ..Verdict::new(id, name, outcome) }
    }

    /// The policy for a call of a tool.
    fn policy(&self, tool: u32, ending: ReplyEnding) -> Policy {
        let complete = ending == ReplyEnding::Complete;
        Policy { complete, ..self.bound.settings(Some(tool)).check }
    }

    /// The error for arguments that are neither valid JSON nor repairable.
    fn find_malformed(&self, tool: u32, arguments: &str, ending: ReplyEnding) -> Option<CallError> {
        let check = self.bound.check(tool).ok()?;
        let policy = self.policy(tool, ending);
        if ToolCheck::reads(arguments) {
            return None;
        }
        match check.check(arguments, policy) {
            Err(rejection @ Rejection::Malformed(_)) => Some(rejection.into()),
            _ => None,
        }
    }

    /// Checks arguments against the schema and the validators of the host.
    fn check_arguments(
        &self,
        tool: u32,
        arguments: &str,
        ending: ReplyEnding,
        check_text: impl FnOnce(&ToolCheck, &str, Policy) -> Result<Accepted, Rejection>,
    ) -> Result<Accepted, CallError> {
        let check = self.bound.check(tool).map_err(|error| CallError::Invocation {
            detail: format!("cannot compile the tool's schema: {error}"),
        })?;
        let policy = self.policy(tool, ending);
        let checked = check_text(check, arguments, policy);
        let validators = self.bound.tool(tool).entry.as_ref().map(|entry| &entry.validators[..]);
        let validators = validators.unwrap_or_default();
        // Validators are host code, so they may panic.
        let found = |value: &Value| -> Result<Vec<_>, CallError> {
            let found = || validators.iter().flat_map(|validator| validator(value)).collect();
            catch_unwind(AssertUnwindSafe(found)).map_err(|_| CallError::Invocation {
                detail: "a validator of its arguments panicked".to_owned(),
            })
        };
        match checked {
            Ok(accepted) if validators.is_empty() => Ok(accepted),
            Ok(accepted) => {
                let found = found(&serde_json::from_str(&accepted.arguments).unwrap_or_default())?;
                if found.is_empty() {
                    return Ok(accepted);
                }
                let masks = self.bound.masks(tool, &accepted.secrets);
                let found = found.into_iter().map(|problem| masks.problem(problem)).collect();
                Err(CallError::Validation(InvalidArguments::of_host(check, found)))
            }
            Err(rejection @ Rejection::Malformed(_)) => Err(rejection.into()),
            Err(Rejection::Invalid(mut invalid)) => {
                let masks = self.bound.masks(tool, invalid.secrets()).into_owned();
                // Keep only problems of values that passed the check. The others may be
                // consequential errors.
                if !validators.is_empty()
                    && let Some(accepted) = invalid.valid_arguments()
                {
                    let is_there = |found: &Problem| {
                        !found.pointer.is_empty() && accepted.pointer(&found.pointer).is_some()
                    };
                    let found = found(&accepted)?.into_iter().filter(is_there);
                    invalid.and(found.map(|problem| masks.problem(problem)).collect());
                }
                if !self.bound.secrets().is_empty() {
                    invalid.hide(|text| self.bound.0.masks.text(text));
                }
                Err(CallError::Validation(invalid))
            }
        }
    }
}

/// A hash of arguments that does not depend on how their JSON is written.
pub(super) fn hash_of(arguments: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    match serde_json::from_str(arguments) {
        Ok(value) => gramc_json_schema::values::canonical(&value).hash(&mut hasher),
        Err(_) => arguments.hash(&mut hasher),
    }
    hasher.finish()
}
