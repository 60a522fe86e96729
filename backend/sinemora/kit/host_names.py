"""International host names in the form in which DNS, TLS and SMTP take them."""

import re

import idna

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?"
_DOMAIN = re.compile(rf"(?:{_LABEL}\.)+[a-z](?:[a-z0-9-]{{0,61}}[a-z0-9])")


def ascii_of(host: str) -> str:
    """Return a host name in A-labels (IDNA 2008, RFC 5891; mapped as UTS 46 says). UnicodeError for a name without."""
    return host if host.isascii() else idna.encode(host, uts46=True).decode()


def domain_of(domain: str) -> str:
    """Return a domain in lower case and A-labels. ValueError that says what it should look like."""
    try:
        name = ascii_of(domain.strip().rstrip(".").lower())
    except UnicodeError:
        name = ""
    if len(name) > 253 or not _DOMAIN.fullmatch(name):
        raise ValueError("should be the domain of e-mail addresses such as example.com")
    return name
