"""Long work as a resource: accepted at once, done by a worker, its progress and result read by whoever asked."""
