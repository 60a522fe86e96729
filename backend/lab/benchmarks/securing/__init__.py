"""Attacks of the benchmark of security: generated bad requests, expensive bodies, injected SQL."""
