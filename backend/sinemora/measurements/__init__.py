"""What the agents measured: ingest, frames, sketches, rollups, matrix and series."""
