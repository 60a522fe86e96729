"""Overview of a tenant's network: health of each mesh, agents that need attention, applications worst first."""
