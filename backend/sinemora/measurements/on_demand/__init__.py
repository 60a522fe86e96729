"""Measurements of one pair on demand: requests, their seconds and every exchange."""
