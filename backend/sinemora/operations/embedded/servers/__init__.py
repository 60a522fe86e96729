"""Embedded PostgreSQL and Valkey: binaries, sockets, user, start and stop."""
