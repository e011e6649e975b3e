//! A bound library as an MCP server.
