"""The laboratory: benchmarks and synthetic incidents with known truth. It imports the product, never the reverse."""
