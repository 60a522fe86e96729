"""Silences: incidents that match are created without notifications."""
