"""Caches of queries: merged parts of ranges, and the newest windows."""
