"""Sinemora: cloud network delay as a tenant sees it."""
