"""Domain-free plumbing: nothing here knows what a delay is."""
