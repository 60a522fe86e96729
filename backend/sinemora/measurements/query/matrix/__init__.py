"""Queries of matrices: all paths of a mesh at one time, with baselines, deviations and estimates."""
