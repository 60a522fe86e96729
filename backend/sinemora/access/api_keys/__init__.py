"""API keys: credentials of programs, with scopes by resource, an owner, an expiry and rotation."""
