"""Latency budget: where a measured delay comes from, as far as measurements and distance can tell. Pure."""
