"""Simulated tenant: a network of 100 VMs in four regions with known faults, sent through the API of agents."""
