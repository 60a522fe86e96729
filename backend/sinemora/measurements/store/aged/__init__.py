"""Aged measurements: ranges of merged tiers in object storage, and the catalogue that leads readers to them."""
