"""Attacks of the benchmark of security: generated bad requests, expensive bodies, every caller on every route."""
