"""Curves: performance of an application as a function of added round-trip latency."""
