"""Pure core of the tail lab."""
