"""Tenants and who may do what in them: people, sign-in, API keys."""
