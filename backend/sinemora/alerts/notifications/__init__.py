"""Notifications: content by receiver kind, delivery and its log."""
