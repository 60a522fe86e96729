"""Simulation: a cluster over time under a placement policy (`core/`), and reports of runs."""
