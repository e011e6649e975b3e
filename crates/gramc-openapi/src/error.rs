//! Why a document is not imported.

/// Why a document is not imported.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The text is neither JSON nor YAML.
    #[error("invalid {format}: {message}")]
    Syntax {
        /// The format that was tried.
        format: &'static str,
        /// What is wrong, and where.
        message: String,
    },
    /// The document is of another kind.
    #[error("expected an OpenAPI 3.0 to 3.2, Swagger 2.0 or Google Discovery document, found {0}")]
    Unrecognized(String),
    /// References lead to other documents: each with the place that has it.
    #[error("{}", remote(.0))]
    Remote(Vec<(String, String)>),
    /// The options choose no operation.
    #[error("no operation matches --include, --exclude and --tag")]
    NothingChosen,
    /// The conversion to gram failed.
    #[error(transparent)]
    Import(#[from] gramc_schema::import::ImportError),
}

fn remote(references: &[(String, String)]) -> String {
    let line = |(place, reference): &(String, String)| {
        format!(
            "{place}: the reference `{reference}` leads to another document: bundle the documents \
             into one"
        )
    };
    references.iter().map(line).collect::<Vec<_>>().join("\n")
}
