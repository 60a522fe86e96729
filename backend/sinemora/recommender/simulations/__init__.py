"""Reports of simulations that were handed over: kept, listed, read."""
