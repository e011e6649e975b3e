//! Specifications, kept between requests.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use gramc_calls::check::Policy;
use gramc_project::{Texts, ValidTexts, diagnostic_json};
use gramc_schema::Target;
use gramc_schema::emit::TargetTools;
use gramc_syntax::SourceFile;
use gramc_tools::clock::ManualClock;
use gramc_tools::{Session, Settings, ToolLibrary};
use serde::Deserialize;

use crate::RequestError;

/// How many specifications are kept. An editor needs two, and a server that checks calls for several
/// agents a few.
const MAX_KEPT: usize = 8;

thread_local! {
    static KEPT: RefCell<Vec<(Source, Rc<Specification>)>> = const { RefCell::new(Vec::new()) };
}

/// The text of a specification.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Source {
    text: String,
    #[serde(default = "default_name")]
    name: String,
    /// The texts that can be imported, by name.
    #[serde(default)]
    imports: BTreeMap<String, String>,
}

fn default_name() -> String {
    "tools.gram".to_owned()
}

impl Source {
    /// The texts, without checking them.
    pub(crate) fn texts(&self) -> Texts {
        let own = SourceFile::new(&*self.name, &*self.text);
        let others = self.imports.iter().map(|(name, text)| SourceFile::new(&**name, &**text));
        Texts::of_memory(std::iter::once(own).chain(others).collect(), 1)
    }

    /// The specification. Fails with its diagnostics if it has errors.
    pub(crate) fn check(self) -> Result<Rc<Specification>, RequestError> {
        let known = KEPT.with_borrow(|kept| {
            kept.iter().find(|(source, _)| *source == self).map(|(_, known)| Rc::clone(known))
        });
        if let Some(known) = known {
            return Ok(known);
        }
        let texts = self.texts();
        let Some(module) = texts.check().module else {
            let found = texts.diagnostics(&gramc_lint::Settings::default());
            return Err(RequestError {
                message: "the specification has errors".to_owned(),
                diagnostics: found.iter().map(diagnostic_json).collect(),
            });
        };
        let valid = ValidTexts { module, texts };
        let specification = Rc::new(Specification { valid, sessions: RefCell::default() });
        KEPT.with_borrow_mut(|kept| {
            kept.truncate(MAX_KEPT - 1);
            kept.insert(0, (self, Rc::clone(&specification)));
        });
        Ok(specification)
    }
}

/// A specification without errors.
pub(crate) struct Specification {
    pub(crate) valid: ValidTexts,
    sessions: RefCell<Vec<SessionEntry>>,
}

/// The checker of calls with a policy and a target.
type SessionEntry = ((Policy, Option<Target>), Rc<Session>);

impl Specification {
    /// The session that checks calls as `gramc validate` does.
    pub(crate) fn session(&self, check: Policy, target: Option<Target>) -> Rc<Session> {
        let mut sessions = self.sessions.borrow_mut();
        if let Some((_, known)) = sessions.iter().find(|(key, _)| *key == (check, target)) {
            return Rc::clone(known);
        }
        let ValidTexts { module, texts } = &self.valid;
        let library = ToolLibrary::new("").settings(Settings { check, ..Settings::default() });
        let (bound, _) = library.bind_partly(module);
        // Calls are only checked, so the time does not matter; there is no clock on WebAssembly.
        let mut session = Session::with_clock(&bound, Arc::new(ManualClock::default()));
        if let Some(target) = target {
            session = session.with_target(Arc::new(TargetTools::new(module, texts.named, target)));
        }
        let session = Rc::new(session);
        sessions.push(((check, target), Rc::clone(&session)));
        session
    }
}
