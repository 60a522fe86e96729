"""Embed links: one view of one mesh for readers without an account, such as a frame in a wiki page."""
