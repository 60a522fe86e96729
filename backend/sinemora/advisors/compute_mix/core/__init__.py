"""Pure core of the compute mix: queueing, split, hourly profiles, provider prices, price lists."""
