"""Aged measurements as a tenant sees them: what is in object storage, and the newest run of ageing."""
