"""Measurements of the agents: ingest, frames, sketches, rollups, matrices and series."""
