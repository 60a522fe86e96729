"""Rules of passwords (NIST SP 800-63B-4, 3.1.1.2): a length, and no password that others guess first.

There are no rules of composition. The list of known passwords and words is the one of zxcvbn, which also recognises
repeats, sequences, keyboard patterns and the words that the caller names.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sinemora.kit.errors import ProductError

LENGTH_MIN = 10
LENGTH_MAX = 1024
_GUESSES_MIN = 1e8
"""Guesses below which zxcvbn calls a password somewhat guessable (score 2)."""
_SEPARATORS = re.compile(r"[\W_]+")
_SCORED_CHARACTERS = 72  # its time grows with the square of the length


def weakness(password: str, words: Sequence[str] = ()) -> str | None:
    """Return why a password is refused, as a sentence for its owner; None for a good one.

    `words` are those that others know of the person: the e-mail address, names of tenants, the product.
    """
    if len(password) < LENGTH_MIN:
        return f"Too short: at least {LENGTH_MIN} characters are needed."
    if len(password) > LENGTH_MAX:
        return f"Too long: at most {LENGTH_MAX} characters are allowed."
    known = {part for word in ("sinemora", *words) for part in _parts(word)}
    if _consists_of(password, known):
        return "Easy to guess: it consists of your address, your tenant or the name of this product."
    # Imported where it is needed: its lists take 10 MB.
    from zxcvbn import zxcvbn

    result = zxcvbn(password[:_SCORED_CHARACTERS], user_inputs=sorted(known))
    if result["guesses"] >= _GUESSES_MIN:
        return None
    reason = _reason(result["sequence"])
    return f"Easy to guess: {reason} Choose several unrelated words."


def refuse_weak(password: str, words: Sequence[str], field: str) -> None:
    """Refuse a password that breaks the rules. ProductError `password_weak` (422), with the field of the body."""
    if (reason := weakness(password, words)) is not None:
        raise ProductError(
            "password_weak",
            422,
            f"Password refused. {reason}",
            errors=[{"pointer": f"#/{field}", "message": reason}],
        )


def _parts(word: str) -> list[str]:
    """Return a name and its parts: `ana.diaz@noc.example` also as `ana.diaz`, `ana`, `diaz`, `noc`, `example`."""
    parts = _SEPARATORS.sub(" ", word.lower()).split()
    return [word.lower(), word.lower().partition("@")[0], *(part for part in parts if len(part) > 2)]


def _consists_of(password: str, known: Collection[str]) -> bool:
    """Return whether fewer than four characters are left of a password without the known words."""
    rest = _SEPARATORS.sub("", password.lower())
    for word in sorted((_SEPARATORS.sub("", word) for word in known), key=len, reverse=True):
        rest = rest.replace(word, "")
    return len(rest) < 4


def _reason(matches: Sequence[Mapping[str, Any]]) -> str:
    """Return what makes a password easy to guess, from the patterns that zxcvbn matched."""
    patterns = {match["pattern"] for match in matches}
    lists = {match.get("dictionary_name") for match in matches}
    if "user_inputs" in lists:
        return "it contains your address, your tenant or the name of this product."
    if "passwords" in lists:
        return "it contains a password that appeared in breaches."
    if "dictionary" in patterns:
        return "it consists of common words."
    if patterns & {"repeat", "sequence", "spatial"}:
        return "it is a repeat, a sequence or a row of keys."
    return "it is too predictable."
