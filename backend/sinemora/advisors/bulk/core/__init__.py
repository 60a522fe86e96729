"""Evaluation of what the bulk sender measured. Pure."""
