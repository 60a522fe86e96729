"""Token buckets that shape VMs: their rate and depth, and how many tokens the traffic of a VM has left."""
