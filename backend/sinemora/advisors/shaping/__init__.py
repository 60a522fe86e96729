"""Shaping: token buckets on a path, time until they are empty, and the retransmission tail of applications."""
