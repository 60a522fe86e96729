"""Merging measurements: over time, by pair, by zone, as matrices; clock corrections. Pure."""
