"""VMs, zones and agents, and the meshes that they form."""
