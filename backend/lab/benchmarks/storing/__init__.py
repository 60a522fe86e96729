"""What the figures of the store are made with: a product of its own, worlds of VMs, a load."""
