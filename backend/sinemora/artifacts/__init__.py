"""Artifacts: files that a tenant publishes and that agents bring each other as blocks named by their hash."""
