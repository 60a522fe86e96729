"""Ingest gateway: a process near agents that forwards their requests and can queue their reports on disk."""
