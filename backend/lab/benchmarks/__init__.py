"""Benchmarks of the product: one JSON object a figure, with its bar."""
