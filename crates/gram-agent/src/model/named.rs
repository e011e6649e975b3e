//! Models by the names that specifications and people give them: `openai/gpt-4o-mini`.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gram_schema::Target;
use gram_schema::model::Api;

use super::chat::Chat;
use super::providers::{Provided, Provider};
use super::{Model, Scripted};

/// A provider: how it is named, spoken to and found.
struct Known {
    name: &'static str,
    /// What `genai` speaks; nothing for chat completions.
    spoken: Option<Provider>,
    /// The variable with its address, and the address without it.
    base: (&'static str, &'static str),
    /// The variable with its key.
    key: Option<&'static str>,
}

/// The providers. The addresses are those of their documentation.
const KNOWN: [Known; 7] = [
    Known {
        name: "openai",
        spoken: None,
        base: ("OPENAI_BASE_URL", "https://api.openai.com/v1"),
        key: Some("OPENAI_API_KEY"),
    },
    Known {
        name: "openai-responses",
        spoken: Some(Provider::Responses),
        base: ("OPENAI_BASE_URL", "https://api.openai.com/v1"),
        key: Some("OPENAI_API_KEY"),
    },
    Known {
        name: "anthropic",
        spoken: Some(Provider::Anthropic),
        base: ("ANTHROPIC_BASE_URL", "https://api.anthropic.com/v1"),
        key: Some("ANTHROPIC_API_KEY"),
    },
    Known {
        name: "gemini",
        spoken: Some(Provider::Gemini),
        base: ("GEMINI_BASE_URL", "https://generativelanguage.googleapis.com/v1beta"),
        key: Some("GEMINI_API_KEY"),
    },
    Known {
        name: "mistral",
        spoken: None,
        base: ("MISTRAL_BASE_URL", "https://api.mistral.ai/v1"),
        key: Some("MISTRAL_API_KEY"),
    },
    Known {
        name: "ollama",
        spoken: None,
        base: ("OLLAMA_BASE_URL", "http://127.0.0.1:11434/v1"),
        key: None,
    },
    Known {
        name: "llamacpp",
        spoken: None,
        base: ("LLAMACPP_BASE_URL", "http://127.0.0.1:8080/v1"),
        key: None,
    },
];

/// What tells the values of variables.
type Environment = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Finds models by name. Those of one name are one: agents that play one script share it.
pub struct Models {
    environment: Environment,
    folder: PathBuf,
    silence: Duration,
    made: HashMap<(String, Api), Arc<dyn Model>>,
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Models").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Models {
    /// Models whose keys and addresses stand in the environment, and whose scripts lie in a
    /// folder, where they are not named from the root.
    pub fn new(
        environment: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
        folder: impl Into<PathBuf>,
    ) -> Self {
        Self {
            environment: Box::new(environment),
            folder: folder.into(),
            silence: Duration::from_mins(2),
            made: HashMap::new(),
        }
    }

    /// How long a provider may say nothing. Default: two minutes.
    #[must_use]
    pub fn silence(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self
    }

    /// Lets a model be found by its name.
    pub fn add(&mut self, model: &Arc<dyn Model>) {
        for api in [Api::Tools, Api::Functions] {
            self.made.insert((model.name().to_owned(), api), Arc::clone(model));
        }
    }

    /// What tools are compiled to for the model of a name, be it there or not.
    pub fn target(name: &str, api: Api) -> Target {
        let provider = name.split_once('/').map_or(name, |(provider, _)| provider);
        let spoken = KNOWN.iter().find(|known| known.name == provider);
        match (spoken.and_then(|known| known.spoken), api) {
            (Some(spoken), _) => spoken.target(),
            (None, Api::Tools) => Target::OpenAi,
            (None, Api::Functions) => Target::OpenAiFunctions,
        }
    }

    /// The model of a name. `api` is how it is passed tools, where its provider has two ways.
    ///
    /// # Errors
    ///
    /// What is wrong with the name, or missing for the model.
    pub fn find(&mut self, name: &str, api: Api) -> Result<Arc<dyn Model>, ModelNameError> {
        let key = (name.to_owned(), api);
        if let Some(model) = self.made.get(&key) {
            return Ok(Arc::clone(model));
        }
        let model = self.make(name, api).map_err(ModelNameError)?;
        self.made.insert(key, Arc::clone(&model));
        Ok(model)
    }

    fn make(&self, name: &str, api: Api) -> Result<Arc<dyn Model>, String> {
        let Some((provider, model)) = name.split_once('/').filter(|(_, model)| !model.is_empty())
        else {
            return Err(format!(
                "`{name}` names no model: say provider and model, as `openai/gpt-4o-mini` does, \
                 or `scripted/echo`"
            ));
        };
        if provider == "scripted" {
            return Ok(Arc::new(match model {
                "echo" => Scripted::echo(),
                file => Scripted::file(&self.folder.join(Path::new(file)))?,
            }));
        }
        let Some(known) = KNOWN.iter().find(|known| known.name == provider) else {
            let names = || KNOWN.iter().map(|known| known.name).chain(["scripted"]);
            let nearest = gram_schema::did_you_mean(provider, names());
            let all = names().collect::<Vec<_>>().join(", ");
            let help = nearest.unwrap_or_else(|| format!("there are {all}"));
            return Err(format!("there is no provider `{provider}`; {help}"));
        };
        let said = |variable: &str| (self.environment)(variable).filter(|value| !value.is_empty());
        let own_base = said(known.base.0);
        let key = known.key.and_then(said);
        if let (Some(variable), None, None) = (known.key, &key, &own_base) {
            return Err(format!(
                "`{name}` needs a key: set {variable}, or {} for a server of your own",
                known.base.0
            ));
        }
        let base = own_base.as_deref().unwrap_or(known.base.1);
        let key = key.unwrap_or_default();
        if let (Some(_), Api::Functions) = (known.spoken, api) {
            return Err(format!("`{provider}` has no `functions`; leave out `api: \"functions\"`"));
        }
        Ok(match known.spoken {
            None => Arc::new(Chat::new((name, model), base, key, api, self.silence)?),
            Some(spoken) => {
                Arc::new(Provided::new((name, model), spoken, base, key, self.silence)?)
            }
        })
    }
}

/// Why there is no model of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelNameError(String);

impl fmt::Display for ModelNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ModelNameError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_for_a_model_is_told() {
        let mut models = Models::new(|_| None, ".");
        let mut told = |name: &str, api| match models.find(name, api) {
            Ok(model) => model.name().to_owned(),
            Err(error) => error.to_string(),
        };
        assert_eq!(told("scripted/echo", Api::Tools), "scripted/echo");
        assert_eq!(told("ollama/a", Api::Tools), "ollama/a");
        assert_eq!(
            told("gpt-4o", Api::Tools),
            "`gpt-4o` names no model: say provider and model, as `openai/gpt-4o-mini` does, or \
             `scripted/echo`"
        );
        assert_eq!(
            told("opena/a", Api::Tools),
            "there is no provider `opena`; did you mean `openai`?"
        );
        assert_eq!(
            told("openai/a", Api::Tools),
            "`openai/a` needs a key: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your \
             own"
        );
        let mut models = Models::new(|name| (name == "ANTHROPIC_API_KEY").then(|| "k".into()), ".");
        let found = models.find("anthropic/a", Api::Functions).map(|_| ());
        let told = found.map_err(|error| error.to_string());
        let wrong = "`anthropic` has no `functions`; leave out `api: \"functions\"`";
        assert_eq!(told, Err(wrong.to_owned()));
    }
}
