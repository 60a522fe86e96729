"""Figures of the advisors, by advisor."""
