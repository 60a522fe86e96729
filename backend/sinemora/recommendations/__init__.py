"""Recommendations: which task to move where, what it gains, why, and whether it did."""
