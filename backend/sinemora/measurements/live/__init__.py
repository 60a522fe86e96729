"""New windows announced to open pages as server-sent events."""
