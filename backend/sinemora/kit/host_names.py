"""International host names in the form in which DNS, TLS and SMTP take them."""

import idna


def ascii_of(host: str) -> str:
    """Return a host name in A-labels (IDNA 2008, RFC 5891; mapped as UTS 46 says). UnicodeError for a name without."""
    return host if host.isascii() else idna.encode(host, uts46=True).decode()
