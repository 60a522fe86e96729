"""What an installation needs for a number of VMs: packets, bytes, processors, memory, disk and money."""
