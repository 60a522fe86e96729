"""Scheduled exports of merged measurements to a bucket of the tenant."""
