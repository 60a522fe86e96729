"""Tools for the figures of the console: a browser run, a simulated network that is fed live, and its faults."""
