"""Pure core of the fairness meter: imported tables."""
