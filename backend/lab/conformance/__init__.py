"""Conformance of the API to its contract: Schemathesis against a running product."""
