"""Live events: new windows as server-sent events."""
