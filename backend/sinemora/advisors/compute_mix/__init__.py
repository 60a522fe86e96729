"""Compute mix: the cheapest split of a load between VMs and serverless that keeps a response target."""
