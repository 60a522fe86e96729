"""Placement of tasks on machines by named policies, with proof of optimality where one exists."""
