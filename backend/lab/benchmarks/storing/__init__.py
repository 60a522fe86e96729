"""Tools of the store's benchmarks: a separate product, meshes of VMs, a load generator."""
