"""Advisors: findings about price, fairness, transports and shaping from the measurements of a tenant."""
