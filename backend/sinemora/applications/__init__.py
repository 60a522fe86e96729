"""Applications: tasks on VMs, the curve that gives their sensitivity, and their current performance."""
