"""Pure core of the fairness meter: the index, and imported tables."""
