"""Advisors: findings about price, fairness, transports, transfers and shaping from the measurements of a tenant."""
