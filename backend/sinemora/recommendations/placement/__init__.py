"""Placement of tasks on machines, with proof of optimality where one exists."""
