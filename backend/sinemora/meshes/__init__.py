"""Which VMs probe one another: meshes, their plans, and the tokens that let a VM join."""
