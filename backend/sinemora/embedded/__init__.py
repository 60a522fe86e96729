"""The embedded default: PostgreSQL, Valkey, the product's own processes and a demonstration mesh, supervised."""
