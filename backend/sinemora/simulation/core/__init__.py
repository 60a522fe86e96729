"""Simulation: a cluster, its jobs and its network through time, to see what placement policies are worth."""
