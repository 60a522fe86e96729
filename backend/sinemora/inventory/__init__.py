"""Where things run: zones, VMs and the agents on them."""
