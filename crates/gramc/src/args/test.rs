//! The arguments of `gramc test`.

use clap::Args as ClapArgs;
use clap::builder::{PossibleValue, TypedValueParser};
use gramc_tools::contract::Check;

use super::{SpecOrServer, one_of};

/// Test implementations against the types of their tools
///
/// Makes valid calls, with boundary values and at random, and checks the results;
/// calls read-only and idempotent tools twice and compares the answers; makes invalid calls, which must
/// not crash an implementation. Failing calls are reduced to small ones. Tools that are destructive or
/// run at most once are left out. Exit code 1 if an implementation fails.
///
/// With two libraries, their implementations are compared call by call instead. Exit code 1 if they
/// differ.
#[derive(Debug, ClapArgs)]
#[command(override_usage = "gramc test [OPTIONS] <SPEC>
       gramc test [OPTIONS] --command <COMMAND>
       gramc test [OPTIONS] --url <URL>")]
#[command(after_help = "Examples:
  gramc test tools.gram --library friendly.gram
  gramc test tools.gram --library friendly.gram --tool findOrder --cases 1000 --seed 7
  gramc test tools.gram --library friendly.gram --allow failure --format junit > results.xml
  gramc test tools.gram --library stable.gram --library rewrite.gram
  gramc test --command \"npx -y @modelcontextprotocol/server-everything\"")]
pub(crate) struct Test {
    #[command(flatten)]
    pub(crate) spec: SpecOrServer,
    /// File that declares the library (FILE:NAME if it declares several), or the name of a library
    /// in SPEC; a second one is compared with the first [default: the server or API that SPEC describes]
    #[arg(long = "library", value_name = "FILE")]
    pub(crate) libraries: Vec<String>,
    /// Number of valid calls of each tool; half as many invalid ones are made
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) cases: u32,
    /// Seed of the random calls
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Tool to test; repeatable [default: all]
    #[arg(long = "tool", value_name = "NAME")]
    pub(crate) tools: Vec<String>,
    /// Also call tools that are destructive or run at most once
    #[arg(long)]
    pub(crate) include_destructive: bool,
    /// Checks that need not pass, separated by commas
    #[arg(long, value_name = "CHECK", value_delimiter = ',', value_parser = checks())]
    pub(crate) allow: Vec<Check>,
    /// Also fail if an implementation answers invalid calls, which gramc itself would refuse
    #[arg(long)]
    pub(crate) strict: bool,
}

fn checks() -> impl TypedValueParser<Value = Check> {
    one_of(Check::ALL.map(|it| (PossibleValue::new(it.name()).help(it.documentation()), it)))
}
