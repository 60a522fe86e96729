"""Parts of the benchmark of scale."""
