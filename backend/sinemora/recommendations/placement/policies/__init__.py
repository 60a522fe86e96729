"""Placement policies: each maps a problem to a plan."""
