"""Simulator: a cluster, its jobs and its network over time, to compare placement policies."""
