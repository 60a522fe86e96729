"""Bulk sender: trials of transports between two VMs by their agents."""
