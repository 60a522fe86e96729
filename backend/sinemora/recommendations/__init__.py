"""Recommendations: task moves with their expected gain, their evidence and their measured outcome."""
