"""Curves: normalised performance of an application against latency added to its round trip."""
