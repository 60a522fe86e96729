"""Parts of the benchmark of artifacts."""
