"""Synthetic incidents with known truth: meshes with the statistics of published traces, and faults in them."""
