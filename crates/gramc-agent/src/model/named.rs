//! Models by name: `openai/gpt-4o-mini`.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gramc_model::Api;
use gramc_schema::Target;

use super::anthropic::Anthropic;
use super::chat::ChatCompletions;
use super::client::{ClientError, client_of_address};
use super::gemini::Gemini;
use super::http_model::{ApiKey, HttpModel, Protocol};
use super::responses::Responses;
use super::{Model, ScriptError, ScriptedModel};

/// A provider of models.
#[derive(Debug)]
struct Provider {
    name: &'static str,
    /// The address of its API.
    address: &'static str,
    /// Whether its models are sent images. Most models on other servers than those of the first four
    /// accept text only.
    takes_images: bool,
    protocol: fn(Api) -> Box<dyn Protocol>,
}

const fn provider(
    name: &'static str,
    address: &'static str,
    takes_images: bool,
    protocol: fn(Api) -> Box<dyn Protocol>,
) -> Provider {
    Provider { name, address, takes_images, protocol }
}

const PROVIDERS: [Provider; 7] = [
    provider("openai", OPENAI, true, chat),
    provider("openai-responses", OPENAI, true, |_| Box::new(Responses)),
    provider("anthropic", ANTHROPIC, true, |_| Box::new(Anthropic)),
    provider("gemini", GEMINI, true, |_| Box::new(Gemini)),
    provider("mistral", "https://api.mistral.ai/v1", false, chat),
    provider("ollama", "http://127.0.0.1:11434/v1", false, chat),
    provider("llamacpp", "http://127.0.0.1:8080/v1", false, chat),
];

fn chat(api: Api) -> Box<dyn Protocol> {
    Box::new(ChatCompletions(api))
}

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
        find_provider(provider).map_or(chat as _, |provider| provider.protocol)(api).target()
    }

    /// Checks the form of a model's name, and that there is such a provider.
    pub fn check_name(name: &str) -> Result<(), ModelNameError> {
        Name::of(name).map(|_| ())
    }

    /// Finds a model. `api` selects how tools are passed, if the provider supports several ways.
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
            return Err(ModelNameError::MissingKey(name.to_owned(), key, base));
        }
        let (base, key) =
            (own_base.as_deref().unwrap_or(spec.address), own_key.unwrap_or_default());
        let protocol = (spec.protocol)(api);
        if api == Api::Functions && protocol.target() != Target::OpenAiFunctions {
            return Err(ModelNameError::NoFunctions(spec.name.to_owned()));
        }
        let base = base.trim_end_matches('/').to_owned();
        Ok(Arc::new(HttpModel {
            name: format!("{}/{model}", spec.name),
            model: model.to_owned(),
            client: client_of_address(&base)?,
            base,
            key: ApiKey(key),
            takes_images: spec.takes_images,
            protocol,
        }))
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
            return Err(ModelNameError::UnknownProvider(provider.to_owned(), help));
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
    /// There is no such provider. With a similar name, or all names.
    #[error("unknown provider `{0}`; {1}")]
    UnknownProvider(String, String),
    /// The environment contains neither a key nor an address. With the variables of both.
    #[error("`{0}` needs a key: set {1}, or {2} for your own server")]
    MissingKey(String, String, String),
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
