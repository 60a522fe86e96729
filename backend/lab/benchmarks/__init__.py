"""Benchmarks of the product: one JSON object a figure, with the bars beside them."""
