"""Texts of one line that people read and compare, such as names. What they show is what they are.

Unicode has characters without a shape, and marks that change the order in which the rest is drawn (UTR 36, section 2.5;
UAX 9): `web<U+202E>1-bd` looks like `webdb-1`. They are refused. Joiners are part of the spelling of Persian and of
Indic languages, and of emoji: they are allowed after a character beyond ASCII.
"""

import re
import unicodedata
from typing import Annotated

from pydantic import AfterValidator, Field

NAME_MAX = 100
_CONTROLS = r"\x00-\x1f\x7f-\x9f\u2028\u2029"
_INVISIBLE = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    r"\u3164\ufeff\uffa0\ufff0-\ufffb"
)
_JOINERS = r"\u200c\u200d"
_REFUSED = _CONTROLS + _INVISIBLE + _JOINERS

# One pattern for the contract and for every reader of it: it needs no lookaround.
ONE_LINE = rf"^(?:[^\x00-\x7f{_REFUSED}][{_JOINERS}]|[^{_REFUSED}])+$"
ONE_LINE_OR_EMPTY = ONE_LINE.removesuffix("+$") + "*$"

_ALLOWED_START = re.compile(ONE_LINE.removeprefix("^").removesuffix("$"))
_CONTROL = re.compile(f"[{_CONTROLS}]")


def composed(text: str) -> str:
    """Return a text in Unicode's form NFC: `é` typed as one character or as two is one name (UAX 15)."""
    return unicodedata.normalize("NFC", text)


Name = Annotated[str, Field(min_length=1, max_length=NAME_MAX, pattern=ONE_LINE), AfterValidator(composed)]


def refusal(text: str) -> str | None:
    """Return why `text` does not match `ONE_LINE`: the first character that is refused; None if it matches."""
    allowed = _ALLOWED_START.match(text)
    at = allowed.end() if allowed else 0
    if at == len(text):
        return None
    if _CONTROL.match(text, at):
        return "Line breaks and other control characters are not allowed."
    return f"Character {at + 1:,} (U+{ord(text[at]):04X}) is invisible or changes the direction of writing. Remove it."


def checked_name(text: str) -> str:
    """Return a name that is no field of a schema, without spaces around it. ValueError that says what is wrong."""
    name = composed(text.strip())
    if not name:
        raise ValueError("a name must not be empty")
    if len(name) > NAME_MAX:
        raise ValueError(f"name too long: {len(name):,} characters, at most {NAME_MAX}")
    if (reason := refusal(name)) is not None:
        raise ValueError(f"name {name!a}: {reason}")
    return name
