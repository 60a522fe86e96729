"""Curves: an application's performance as a function of latency added to its round trip."""
