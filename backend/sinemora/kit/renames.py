"""Renamed objects: features whose rows name others follow, so that they keep meaning the same object."""

from collections.abc import Callable

from sqlalchemy.orm import Session

Follow = Callable[[Session, str, str, str], None]
"""Takes the session, the kind of the object as in matchers of alerts, its name before, and its new name."""
followers: list[Follow] = []


def renamed(session: Session, kind: str, before: str, name: str) -> None:
    """Report a new name of an object to the features that keep the old one. Nothing happens if both are equal."""
    if name != before:
        session.flush()
        for follow in followers:
            follow(session, kind, before, name)
