"""Order of waiting jobs: simulated with the product's own function, and measured with a broker and a worker."""
