"""Who may do what: tenants, users, sessions, API keys, and the record of who changed what."""
