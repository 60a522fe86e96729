"""Needs of an installation for a number of VMs: packets, bytes, processors, memory, disk and money."""
