"""Imports of external traces as windows of a mesh."""
