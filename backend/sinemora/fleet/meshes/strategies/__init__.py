"""Strategies of meshes: which pairs are measured in which window, at what cost, and how soon a fault is seen."""
