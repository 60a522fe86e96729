"""Saved views: pages of the console under a name, for everyone of the tenant."""
