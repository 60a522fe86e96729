"""Pushes of the newest measurements to a tenant's own monitoring: Prometheus remote write or OTLP."""
