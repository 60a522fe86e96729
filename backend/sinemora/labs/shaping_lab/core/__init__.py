"""Profiles, interference, workload mixes and comparison with the source. Pure."""
