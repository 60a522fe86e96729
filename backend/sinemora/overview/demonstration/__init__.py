"""State of a demonstration that this installation plays, for the console."""
