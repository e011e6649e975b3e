//! The language server for gram specifications of tools.
