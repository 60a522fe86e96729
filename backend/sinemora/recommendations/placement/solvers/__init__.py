"""Solver of the network behind the published policy: minimum-cost flow."""
