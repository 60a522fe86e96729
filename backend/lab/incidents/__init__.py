"""Scenarios with known truth: networks as clouds were found to be, and what goes wrong in them."""
