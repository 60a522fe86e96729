"""Recommendations of a running product: requests, random tenants, and what brute force finds for them."""
