"""Queries over measurements: a request, the rows it reads, its response."""
