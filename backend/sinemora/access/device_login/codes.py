"""Codes that people compare and type: 8 consonants, so that they make no words (RFC 8628, 6.1)."""

import secrets

_SIGNS = "BCDFGHJKLMNPQRSTVWXZ"
_HALF = 4


def new_code() -> str:
    """Return a random code of 34 bits, such as `WDJB-MJHT`."""
    signs = [secrets.choice(_SIGNS) for _ in range(2 * _HALF)]
    return f"{''.join(signs[:_HALF])}-{''.join(signs[_HALF:])}"


def normal_form(typed: str) -> str:
    """Return a code as `new_code` writes it: upper case, one hyphen, whatever else was typed left out."""
    signs = "".join(sign for sign in typed.upper() if sign in _SIGNS)
    return f"{signs[:_HALF]}-{signs[_HALF:]}"
