"""Learning in production: fits a curve to an application's own metric and measured latency."""
