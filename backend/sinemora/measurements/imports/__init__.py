"""Traces measured elsewhere, imported as windows of a mesh."""
