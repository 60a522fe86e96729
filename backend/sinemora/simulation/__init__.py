"""Simulation: a cluster through time under a placement policy (`core/`), and the reports of such runs."""
