"""Core of recommendations: an instance in memory, its optimisation, and the gain on hold-out windows. Pure."""
