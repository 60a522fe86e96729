"""Shaping lab: a key-value and a batch workload under the shaping profiles of the source, on real queues of Linux."""
