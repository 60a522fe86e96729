"""Error of the commands of recovery."""


class RecoveryError(Exception):
    """Archive, restore or drill that failed; the message gives reason and advice."""
