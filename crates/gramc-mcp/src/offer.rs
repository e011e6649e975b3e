//! What a client is offered.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use gramc_check::Valid;
use gramc_model::Module;
use gramc_schema::Target;
use gramc_schema::emit::TargetTools;
use gramc_tools::{Bound, SessionClient};

use crate::catalog::Catalog;
use crate::error::ServeError;
use crate::finder::Finder;

/// The tools that clients are offered, and the library that runs them.
pub(crate) struct Offer {
    pub(crate) catalog: Catalog,
    pub(crate) bound: Bound,
    /// Finds the tools, if clients do not see all of them.
    pub(crate) finder: Option<Finder>,
    /// The tools as clients see them, if they have another form.
    pub(crate) target: Option<Arc<TargetTools>>,
}

impl Offer {
    pub(crate) fn new(
        module: &Valid<Module>,
        bound: Bound,
        form: OfferForm,
    ) -> Result<Self, ServeError> {
        let OfferForm { has_finder, target } = form;
        let target = target.map(|target| Arc::new(TargetTools::new(module, usize::MAX, target)));
        let catalog = Catalog::new(module, &bound, target.as_deref());
        let listed: Vec<_> = catalog.tools().collect();
        let finder = has_finder.then(|| Finder::new(module, &listed)).transpose()?;
        Ok(Self { catalog, bound, finder, target })
    }
}

/// The form in which clients see tools.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfferForm {
    /// Whether they find tools instead of seeing all.
    pub(crate) has_finder: bool,
    /// The provider whose rules the schemas follow.
    pub(crate) target: Option<Target>,
}

/// A running server whose tools are offered. Each client has its own connection to it, because the
/// tools may depend on the capabilities of the client.
pub trait LiveServer: Send + Sync {
    /// The connection of a client. It is opened when it is needed.
    fn connect(&self, client: Arc<dyn SessionClient>) -> Arc<dyn LiveTools>;
}

/// The tools of a running server for one client.
pub trait LiveTools: Send + Sync {
    /// The tools of the server now, and the library that calls them.
    fn read(&self) -> BoxFuture<'_, Result<(Valid<Module>, Bound), ServeError>>;

    /// Whether the server says that its tools have changed since they were read.
    fn have_changed(&self) -> bool;

    /// Shows what of the tools that were read is not checked.
    fn report(&self, warnings: &[String]);

    /// Ends the connection.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// Where offers come from.
pub(crate) enum OfferSource {
    /// All clients have the same.
    Fixed(Arc<Offer>),
    Live {
        server: Box<dyn LiveServer>,
        form: OfferForm,
    },
}
