//! The kinds of implementations.
