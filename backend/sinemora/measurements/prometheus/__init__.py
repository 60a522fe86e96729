"""Measurements as Prometheus knows them: the newest zone matrices to scrape, and series to query."""
