"""Tools for the figures of the store: a separate product, meshes of VMs, a load."""
