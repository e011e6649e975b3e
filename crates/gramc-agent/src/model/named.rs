//! Models by name: `openai/gpt-4o-mini`.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gramc_model::Api;
use gramc_schema::Target;

use super::anthropic::Anthropic;
use super::chat::ChatCompletions;
use super::client::ClientError;
use super::gemini::Gemini;
use super::http_model::{HttpModel, HttpModelOptions, Protocol};
use super::responses::Responses;
use super::{Model, ScriptError, ScriptedModel};

/// The protocol of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProtocolKind {
    ChatCompletions,
    Responses,
    Anthropic,
    Gemini,
}

/// A provider of models.
#[derive(Debug)]
struct Provider {
    name: &'static str,
    /// The address of its API.
    address: &'static str,
    protocol: ProtocolKind,
    /// Whether its models are sent images.
    takes_images: bool,
}

const fn provider(
    name: &'static str,
    address: &'static str,
    protocol: ProtocolKind,
    takes_images: bool,
) -> Provider {
    Provider { name, address, protocol, takes_images }
}

// Most models on other servers than those of the first four accept text only.
const PROVIDERS: [Provider; 7] = [
    provider("openai", OPENAI, ProtocolKind::ChatCompletions, true),
    provider("openai-responses", OPENAI, ProtocolKind::Responses, true),
    provider("anthropic", ANTHROPIC, ProtocolKind::Anthropic, true),
    provider("gemini", GEMINI, ProtocolKind::Gemini, true),
    provider("mistral", "https://api.mistral.ai/v1", ProtocolKind::ChatCompletions, false),
    provider("ollama", "http://127.0.0.1:11434/v1", ProtocolKind::ChatCompletions, false),
    provider("llamacpp", "http://127.0.0.1:8080/v1", ProtocolKind::ChatCompletions, false),
];

/// The provider of scripts.
const SCRIPTED: &str = "scripted";

const OPENAI: &str = "https://api.openai.com/v1";
const ANTHROPIC: &str = "https://api.anthropic.com/v1";
const GEMINI: &str = "https://generativelanguage.googleapis.com/v1beta";

/// The names of the providers of models.
pub fn providers() -> impl Iterator<Item = &'static str> {
    PROVIDERS.iter().map(|provider| provider.name).chain([SCRIPTED])
}

/// Looks up environment variables.
type Environment = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Finds models by name. Models are created once per name, so agents with one script share it.
pub struct Models {
    environment: Environment,
    folder: PathBuf,
    by_name: HashMap<(String, Api), Arc<dyn Model>>,
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Models").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Models {
    /// Creates models from environment variables and from scripts, whose paths are relative to
    /// `folder`. Programs that validate answers run there, too.
    pub fn new(
        environment: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
        folder: impl Into<PathBuf>,
    ) -> Self {
        Self { environment: Box::new(environment), folder: folder.into(), by_name: HashMap::new() }
    }

    /// Creates models from the environment variables of this process. See [`Self::new`].
    pub fn of_environment(folder: impl Into<PathBuf>) -> Self {
        Self::new(|name| std::env::var(name).ok(), folder)
    }

    /// The folder of scripts and programs.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Adds a model under its name.
    pub fn add(&mut self, model: &Arc<dyn Model>) {
        for api in [Api::Tools, Api::Functions] {
            self.by_name.insert((model.name().to_owned(), api), Arc::clone(model));
        }
    }

    /// The target that tools are compiled to for a model. The model need not be available.
    pub fn target(name: &str, api: Api) -> Target {
        let provider = name.split_once('/').map_or(name, |(provider, _)| provider);
        let kind = find_provider(provider).map(|provider| provider.protocol);
        kind.unwrap_or(ProtocolKind::ChatCompletions).protocol(api).target()
    }

    /// Checks the form of a model's name, and that there is such a provider.
    ///
    /// # Errors
    ///
    /// [`ModelNameError::Invalid`] and [`ModelNameError::UnknownProvider`].
    pub fn check_name(name: &str) -> Result<(), ModelNameError> {
        Name::of(name).map(|_| ())
    }

    /// Finds a model. `api` selects how tools are passed, if the provider supports several ways.
    ///
    /// # Errors
    ///
    /// If the name is invalid or the configuration of the provider is incomplete.
    pub fn find(&mut self, name: &str, api: Api) -> Result<Arc<dyn Model>, ModelNameError> {
        let key = (name.to_owned(), api);
        if let Some(model) = self.by_name.get(&key) {
            return Ok(Arc::clone(model));
        }
        let model = self.create(name, api)?;
        self.by_name.insert(key, Arc::clone(&model));
        Ok(model)
    }

    fn create(&self, name: &str, api: Api) -> Result<Arc<dyn Model>, ModelNameError> {
        let Name { model, spec } = Name::of(name)?;
        let Some(spec) = spec else {
            return Ok(Arc::new(match model {
                "echo" => ScriptedModel::echo(),
                file => ScriptedModel::file(&self.folder.join(Path::new(file)))?,
            }));
        };
        let read = |variable: &str| (self.environment)(variable).filter(|value| !value.is_empty());
        // `openai` and `openai-responses` share their variables.
        let prefix = spec.name.split('-').next().unwrap_or(spec.name).to_uppercase();
        let (base, key) = (format!("{prefix}_BASE_URL"), format!("{prefix}_API_KEY"));
        // A server on this machine needs no key.
        let is_local = spec.address.starts_with("http:");
        let (own_base, own_key) = (read(&base), if is_local { None } else { read(&key) });
        if !is_local && own_key.is_none() && own_base.is_none() {
            return Err(ModelNameError::MissingKey { model: name.to_owned(), key, base });
        }
        let (base, key) =
            (own_base.as_deref().unwrap_or(spec.address), own_key.unwrap_or_default());
        if spec.protocol != ProtocolKind::ChatCompletions && api == Api::Functions {
            return Err(ModelNameError::NoFunctions(spec.name.to_owned()));
        }
        let takes_images = spec.takes_images;
        let name = format!("{}/{model}", spec.name);
        let options = HttpModelOptions { name, model, base, key, takes_images };
        Ok(Arc::new(HttpModel::new(options, spec.protocol.protocol(api))?))
    }
}

impl ProtocolKind {
    fn protocol(self, api: Api) -> Box<dyn Protocol> {
        match self {
            Self::ChatCompletions => Box::new(ChatCompletions(api)),
            Self::Responses => Box::new(Responses),
            Self::Anthropic => Box::new(Anthropic),
            Self::Gemini => Box::new(Gemini),
        }
    }
}

/// Finds a provider by its name, in any case.
fn find_provider(name: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|provider| provider.name.eq_ignore_ascii_case(name))
}

/// The parts of a model's name.
struct Name<'n> {
    model: &'n str,
    /// `None` for scripts.
    spec: Option<&'static Provider>,
}

impl<'n> Name<'n> {
    fn of(name: &'n str) -> Result<Self, ModelNameError> {
        let Some((provider, model)) = name.split_once('/').filter(|(_, model)| !model.is_empty())
        else {
            return Err(ModelNameError::Invalid(name.to_owned()));
        };
        let spec = find_provider(provider);
        if spec.is_none() && !provider.eq_ignore_ascii_case(SCRIPTED) {
            let help = gramc_model::did_you_mean(provider, providers()).unwrap_or_else(|| {
                format!("expected one of {}", providers().collect::<Vec<_>>().join(", "))
            });
            return Err(ModelNameError::UnknownProvider { name: provider.to_owned(), help });
        }
        Ok(Self { model, spec })
    }
}

/// A model that is not available.
#[derive(Debug, thiserror::Error)]
pub enum ModelNameError {
    /// The name does not consist of a provider and a model.
    #[error(
        "invalid model name `{0}`: expected PROVIDER/MODEL, such as `openai/gpt-4o-mini` or \
         `scripted/echo`"
    )]
    Invalid(String),
    /// There is no such provider.
    #[error("unknown provider `{name}`; {help}")]
    UnknownProvider {
        /// The name.
        name: String,
        /// A similar name, or all names.
        help: String,
    },
    /// The environment contains neither a key nor an address.
    #[error("`{model}` needs a key: set {key}, or {base} for your own server")]
    MissingKey {
        /// The model.
        model: String,
        /// The variable of the key.
        key: String,
        /// The variable of the address.
        base: String,
    },
    /// The provider does not support the older way to pass tools.
    #[error("`{0}` does not support `functions`; remove `api: \"functions\"`")]
    NoFunctions(String),
    /// The script cannot be read.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The HTTP client cannot be created.
    #[error(transparent)]
    Client(#[from] ClientError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unavailable_models_are_reported() {
        let mut models = Models::new(|_| None, ".");
        let mut find = |name: &str, api| match models.find(name, api) {
            Ok(model) => model.name().to_owned(),
            Err(error) => error.to_string(),
        };
        assert_eq!(find("scripted/echo", Api::Tools), "scripted/echo");
        assert_eq!(find("ollama/a", Api::Tools), "ollama/a");
        assert_eq!(find("Ollama/a", Api::Tools), "ollama/a");
        assert_eq!(
            find("gpt-4o", Api::Tools),
            "invalid model name `gpt-4o`: expected PROVIDER/MODEL, such as `openai/gpt-4o-mini` or \
             `scripted/echo`"
        );
        assert_eq!(find("opena/a", Api::Tools), "unknown provider `opena`; did you mean `openai`?");
        assert_eq!(
            find("openai/a", Api::Tools),
            "`openai/a` needs a key: set OPENAI_API_KEY, or OPENAI_BASE_URL for your own server"
        );
        let mut models = Models::new(|name| (name == "ANTHROPIC_API_KEY").then(|| "k".into()), ".");
        let found = models.find("anthropic/a", Api::Functions).map(|_| ());
        let found = found.map_err(|error| error.to_string());
        let error = "`anthropic` does not support `functions`; remove `api: \"functions\"`";
        assert_eq!(found, Err(error.to_owned()));
    }
}
