"""Tenants, users, sessions, API keys and the audit log."""
