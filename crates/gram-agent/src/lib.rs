//! Agents on bound libraries.
//!
//! An agent of a specification talks to a model, and the model calls tools. Each call goes through
//! a session of a bound library (`gram_tools`), so that a model hears what is wrong with a call,
//! and nothing undeclared reaches an implementation. The tools of a bound library can also be served
//! to others, over the Model Context Protocol ([`serve`]).

pub mod serve;
