"""Stored forms of measurements: LLQ16 sketches and frames as bytes and back."""
