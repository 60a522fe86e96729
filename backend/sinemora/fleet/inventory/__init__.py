"""Inventory: zones, VMs and the agents on them."""
