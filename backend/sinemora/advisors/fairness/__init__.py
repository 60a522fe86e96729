"""Fairness meter: Jain's index over flows of a path, VMs, applications or metric sources of a mesh."""
