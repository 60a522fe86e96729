"""The soak: the product under a fleet, readers and injected faults for a day; counts of what is lost or grows."""
