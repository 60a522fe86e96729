"""Learning in production: an application's own metric beside measured latency becomes its curve."""
