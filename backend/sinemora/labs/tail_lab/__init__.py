"""Tail lab: which order of packets at a bottleneck cuts the tail of flow completion times."""
