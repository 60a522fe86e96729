"""Demonstration: simulated VMs in three zones of this machine, the network between them, and their agents."""
