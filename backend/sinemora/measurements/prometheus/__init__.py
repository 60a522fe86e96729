"""Measurements for Prometheus: the newest zone matrices to scrape, and series to query."""
