"""Adapters for agent frameworks. Each needs the extra of its name, such as `gramc[pydantic-ai]`."""
