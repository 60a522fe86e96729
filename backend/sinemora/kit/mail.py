"""Send e-mail over SMTP (RFC 5321). Notifications and the mails of the product itself leave through here.

STARTTLS (RFC 3207) is used where the server offers it; user and password are sent only over TLS.
"""

import re
import smtplib
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate
from urllib.parse import unquote, urlsplit

from sinemora.kit.config import settings

_LIMIT_S = 15.0
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
    if "Date" not in message:
        message["Date"] = formatdate()
    server = urlsplit(smtp_url.get_secret_value())
    host, secure = server.hostname or "", server.scheme == "smtps"
    try:
        if secure:
            client: smtplib.SMTP = smtplib.SMTP_SSL(
                host, server.port or 465, timeout=_LIMIT_S, context=ssl.create_default_context()
            )
        else:
            client = smtplib.SMTP(host, server.port or 587, timeout=_LIMIT_S)
        with client:
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
            refused = client.send_message(message)
    except smtplib.SMTPResponseException as error:
        text = f"{error.smtp_code} {error.smtp_error!r}"
        raise (MailRefused if error.smtp_code >= 550 else MailDelayed)(text) from None
    except smtplib.SMTPRecipientsRefused as error:
        code, answer = next(iter(error.recipients.values()))
        raise (MailRefused if code >= 500 else MailDelayed)(f"{code} {answer!r}") from None
    except (OSError, smtplib.SMTPException) as error:
        raise MailDelayed(f"{host}: {error}") from None
    return f"accepted, refused for {', '.join(refused)}" if refused else "accepted"
