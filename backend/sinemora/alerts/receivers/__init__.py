"""Receivers of notifications and the tree of routes to them."""
