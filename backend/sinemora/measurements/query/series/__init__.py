"""Queries of chosen paths over time: series, distributions, spikes, windows as rows."""
