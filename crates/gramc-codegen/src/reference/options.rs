//! What a reference contains.

use std::ops::Range;

use gramc_schema::Target;

/// What a reference contains.
#[derive(Debug, Clone)]
pub struct ReferenceOptions<'o> {
    /// Its title.
    pub title: &'o str,
    /// The files whose tools it contains. Their types may be in other files.
    pub files: Range<usize>,
    /// The targets whose definitions it shows.
    pub targets: &'o [Target],
}
