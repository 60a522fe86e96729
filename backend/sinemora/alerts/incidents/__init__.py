"""Incidents: rows, evidence, timeline and what people decide."""
