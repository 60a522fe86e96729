"""Generator of the typed part of the Python client: models and operations, from the contract."""
