"""Jobs: long work that a request submits and a worker runs. Clients read progress and result."""
