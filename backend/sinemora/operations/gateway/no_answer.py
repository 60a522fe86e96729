"""Remedies for a backend that does not answer, in words for an operator.

`agent/agent/src/backend/no_answer.rs` has the same.
"""

import ssl

# Codes of the certificate verification of OpenSSL (x509_vfy.h).
_OF_CODE = {
    9: "its certificate is valid only from a later time: correct this machine's clock, or the start of the certificate",
    10: "its certificate has expired: renew it on the backend, or correct this machine's clock if that is ahead",
    62: "its certificate is for another host: use a host name of the certificate in --backend",
    64: "its certificate is for another host: use a host name of the certificate in --backend",
    26: "its certificate is not meant for servers: make one whose extendedKeyUsage has serverAuth",
}
_UNTRUSTED = dict.fromkeys(
    (7, 18, 19, 20, 21),
    "its certificate is not from an authority this gateway trusts: set --ca-file to the right one, or find out who"
    " intercepts the connection",
)
_NO_TLS = "the server does not use TLS: the port is wrong, or the URL should start with http://"


def reason(error: Exception) -> str:
    """Return why a request has no answer, with the usual remedy if there is one."""
    words = str(error) or type(error).__name__
    hint = _hint(error)
    return f"{words} ({hint})" if hint else words


def _hint(error: BaseException | None) -> str | None:
    """Return the remedy of the TLS error that caused this one."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return (_OF_CODE | _UNTRUSTED).get(error.verify_code)
        if isinstance(error, ssl.SSLError) and error.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST"):
            return _NO_TLS
        error = error.__cause__ or error.__context__
    return None
