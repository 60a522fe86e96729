"""Observability of the backend: logs, metrics and traces."""
