"""Send e-mail over SMTP (RFC 5321). Notifications and the mails of the product itself leave through here.

STARTTLS (RFC 3207) is used where the server offers it; user and password are sent only over TLS.
"""

import re
import smtplib
import socket
import ssl
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import formatdate
from urllib.parse import SplitResult, unquote, urlsplit

from sinemora.kit.config import settings
from sinemora.kit.deadline import Deadline
from sinemora.kit.host_names import ascii_of

LIMIT_S = 20.0
"""Time limit of handing over a mail, from the connection to the last answer, s."""
_SILENCE_S = 15.0
# An address that header and envelope can carry as it is: no spaces, no angle brackets, no commas.
_ADDRESS = re.compile(r"[^\s@<>,;:\"()\[\]\\]{1,64}@[^\s@<>,;:\"()\[\]\\]+")
_ADDRESS_MAX = 254  # RFC 5321, 4.5.3.1.3, without the angle brackets


class MailRefused(Exception):
    """Mail that the server refuses for good, or that cannot be sent with these settings. A retry does not help."""


class MailDelayed(Exception):
    """Mail that could not be handed over now. A retry may help."""


@dataclass(frozen=True, slots=True)
class Mail:
    """Mail of the product to one person, in plain text. `paragraphs` are joined by empty lines."""

    to: str
    subject: str
    paragraphs: Sequence[str]

    def text(self) -> str:
        """Return the body, with the address of this installation below it."""
        return "\n\n".join([*self.paragraphs, f"-- \nSinemora, {settings().public_url}\n"])


def is_configured() -> bool:
    """Return whether the operator has set a mail server."""
    return settings().smtp_url is not None


def is_address(text: str) -> bool:
    """Return whether `text` is an e-mail address that a mail can be sent to; its domain is not looked up."""
    return len(text) <= _ADDRESS_MAX and text.isprintable() and _ADDRESS.fullmatch(text) is not None


def message_of(mail: Mail, message_id: str) -> EmailMessage:
    """Return the message of a mail. `message_id` lets a server recognise a mail that is sent again."""
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = mail.subject, settings().smtp_from, mail.to
    message["Message-ID"] = f"<{message_id}@{_sender_domain()}>"
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: no vacation replies
    message.set_content(mail.text())
    return message


def _sender_domain() -> str:
    """Return the domain of the sender's address, for message ids."""
    return settings().smtp_from.rpartition("@")[2].rstrip(">") or "sinemora"


def send(message: EmailMessage) -> str:
    """Hand a message to the mail server; return its answer. Raises `MailRefused`, `MailDelayed`."""
    smtp_url = settings().smtp_url
    if smtp_url is None:
        raise MailRefused("No mail server: set SINEMORA_SMTP_URL.")
    _use_a_labels(message)
    if "Date" not in message:
        message["Date"] = formatdate()
    server = urlsplit(smtp_url.get_secret_value())
    host = server.hostname or ""
    with Deadline(LIMIT_S) as deadline:
        try:
            refused = _handed_over(message, server, deadline)
        except smtplib.SMTPResponseException as error:
            text = f"{error.smtp_code} {error.smtp_error!r}"
            raise (MailRefused if error.smtp_code >= 550 else MailDelayed)(text) from None
        except smtplib.SMTPNotSupportedError:
            raise MailRefused(f"{host} takes no addresses with other characters than ASCII before the @.") from None
        except smtplib.SMTPRecipientsRefused as error:
            code, answer = next(iter(error.recipients.values()))
            raise (MailRefused if code >= 500 else MailDelayed)(f"{code} {answer!r}") from None
        except (OSError, smtplib.SMTPException) as error:
            reason = f"did not answer within {LIMIT_S:g} s" if deadline.passed else error
            raise MailDelayed(f"{host}: {reason}") from None
    return f"accepted, refused for {', '.join(refused)}" if refused else "accepted"


def _use_a_labels(message: EmailMessage) -> None:
    """Write international domains of recipients as A-labels, which every server takes. Raises MailRefused."""
    addresses = message["To"].addresses
    if all(one.domain.isascii() for one in addresses):
        return
    try:
        ascii_ones = [Address(one.display_name, one.username, ascii_of(one.domain)) for one in addresses]
    except UnicodeError as error:
        raise MailRefused(f"Invalid domain of a recipient: {error}") from None
    message.replace_header("To", ascii_ones)


class _Client(smtplib.SMTP):
    """Client whose connection ends at a deadline."""

    def __init__(self, deadline: Deadline, host: str, port: int) -> None:
        self._deadline = deadline
        super().__init__(host, port, timeout=_SILENCE_S)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        """Connect to the first address of the host that answers; the look-up counts too."""
        failed: OSError | None = None
        for address in self._deadline.addresses(host, port):
            try:
                connection: socket.socket = super()._get_socket(  # type: ignore[misc]
                    address, port, min(timeout, self._deadline.left_s())
                )
            except OSError as error:
                failed = error
                continue
            connection.settimeout(timeout)
            self._deadline.watch(connection)
            return connection
        raise failed or OSError(f"{host} has no address")


class _EncryptedClient(smtplib.SMTP_SSL, _Client):
    """Client of a server that is encrypted from the first byte; the deadline includes the handshake."""

    def __init__(self, deadline: Deadline, host: str, port: int) -> None:
        self._deadline = deadline
        smtplib.SMTP_SSL.__init__(self, host, port, timeout=_SILENCE_S, context=ssl.create_default_context())


def _handed_over(message: EmailMessage, server: SplitResult, deadline: Deadline) -> Collection[str]:
    """Hand a message over; return the recipients that the server refused. Raises MailRefused, OSError, SMTPException.

    `server`: URL of the mail server.
    """
    host, secure = server.hostname or "", server.scheme == "smtps"
    client = (_EncryptedClient if secure else _Client)(deadline, host, server.port or (465 if secure else 587))
    try:
        if not secure and client.ehlo() and client.has_extn("starttls"):
            client.starttls(context=ssl.create_default_context())
            client.ehlo()
            secure = True
        if server.username and not secure:
            raise MailRefused(
                f"No encryption: {host} does not offer STARTTLS, and passwords are never sent unencrypted."
            )
        if server.username:
            client.login(unquote(server.username), unquote(server.password or ""))
        return client.send_message(message)
    finally:
        # The mail is accepted or not; a server that closes the connection slowly does not get it twice.
        with suppress(OSError, smtplib.SMTPException):
            client.quit()
        client.close()
