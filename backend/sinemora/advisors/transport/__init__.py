"""Transport advisor: the transport for a pair of VMs or a transfer, with the rule and the measurement behind it."""
