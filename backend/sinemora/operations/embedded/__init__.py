"""Embedded product: PostgreSQL, Valkey, the product's processes and a demonstration mesh under a supervisor."""
