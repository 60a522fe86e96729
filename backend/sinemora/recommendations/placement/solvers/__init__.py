"""Solvers of the networks behind the policies: minimum-cost flow, and the transportation problem."""
