"""Bulk sender: trials of transports between two VMs, and planned transfers between many, by their agents."""
