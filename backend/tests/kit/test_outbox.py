"""Mails of the product: stored with the change that asks for them, sent by a worker, encrypted while they wait."""

import socket
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from uuid import UUID

import pytest
from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session

from sinemora.kit import config, mail, outbox
from sinemora.kit.db import system_session, tenant_session
from sinemora.kit.errors import ProductError
from sinemora.kit.mail import Mail
from sinemora.kit.outbox import MailState, OutgoingMail
from tests.api_clients import Member
from tests.mail_server import MailServer
from tests.statements import call, execute, scalar
from tests.waits import WAIT_MOST_S

LETTER = Mail("ada@example.com", "Your link", ("Open this:", "https://example.com/?secret=s3cret-and-long"))


def posted(valid_for: timedelta = timedelta(days=1), to: str = LETTER.to) -> UUID:
    return call(outbox.post, "test", Mail(to, LETTER.subject, LETTER.paragraphs), valid_for)


def stored(mail_id: UUID) -> OutgoingMail:
    return call(Session.get_one, OutgoingMail, mail_id)


def due_now() -> None:
    execute(update(OutgoingMail).values(due_at=datetime.now(UTC)))
    outbox.deliver_due()


def test_a_mail_leaves_once_and_its_content_is_forgotten(
    database: Engine, mail_settings: None, mail_server: MailServer
):
    mail_id = posted()
    row = scalar("SELECT o::text FROM outgoing_mails o WHERE id = :id", {"id": mail_id})
    assert b"s3cret".hex() not in row
    assert "s3cret" not in row
    outbox.deliver(str(mail_id))
    outbox.deliver(str(mail_id))
    outbox.deliver_due()
    ((to, raw),) = mail_server.got
    assert to == ["ada@example.com"]
    message = message_from_bytes(raw, _class=EmailMessage, policy=policy.default)
    assert (message["Subject"], message["To"]) == ("Your link", "ada@example.com")
    assert message["From"] == config.settings().smtp_from
    assert message["Date"]
    assert str(mail_id) in message["Message-ID"]
    assert "https://example.com/?secret=s3cret-and-long" in message.get_content()
    sent = stored(mail_id)
    assert (sent.state, sent.answer, sent.encrypted_content) == (MailState.sent, "accepted", None)


def test_a_mail_goes_with_the_change_that_asked_for_it(database: Engine, mail_settings: None, mail_server: MailServer):
    with system_session() as session:
        outbox.post(session, "test", LETTER, timedelta(days=1))
        session.rollback()
    outbox.deliver_due()
    assert mail_server.got == []


def test_a_server_that_is_away_is_tried_again(database: Engine, mail_settings: None, mail_server: MailServer):
    mail_server.refusals[LETTER.to] = "451 busy"
    mail_id = posted()
    due_now()
    waiting = stored(mail_id)
    assert (waiting.state, waiting.attempts, waiting.answer) == (MailState.waiting, 1, "451 b'busy'")
    assert waiting.due_at > datetime.now(UTC)
    mail_server.refusals.clear()
    due_now()
    assert stored(mail_id).state == "sent"
    assert len(mail_server.got) == 1


def test_a_mail_is_sent_outside_of_any_transaction(database: Engine, mail_settings: None, mail_server: MailServer):
    mail_server.greets.clear()
    mail_id = posted()
    sending = threading.Thread(target=outbox.deliver, args=(str(mail_id),))
    sending.start()
    while not mail_server.asked:
        time.sleep(0.01)
    with system_session() as session:  # nobody holds the row meanwhile, and nobody else sends the mail
        row = session.scalars(select(OutgoingMail).where(OutgoingMail.id == mail_id).with_for_update(nowait=True)).one()
        assert (row.attempts, row.answer) == (1, "Attempt 1: no answer recorded.")
    outbox.deliver(str(mail_id))
    mail_server.greets.set()
    sending.join()
    assert stored(mail_id).state == "sent"
    assert len(mail_server.got) == 1


def test_an_attempt_counts_whose_answer_is_lost(
    database: Engine, mail_settings: None, mail_server: MailServer, monkeypatch: pytest.MonkeyPatch
):
    mail_id = posted()
    with monkeypatch.context() as killed:
        killed.setattr(outbox, "_record", lambda *_: sys.exit("killed"))
        with pytest.raises(SystemExit):
            outbox.deliver(str(mail_id))
    outbox.deliver_due()
    assert (stored(mail_id).attempts, len(mail_server.got)) == (1, 1)
    due_now()
    assert (stored(mail_id).state, stored(mail_id).attempts) == ("sent", 2)


def test_the_look_up_of_a_mail_server_has_a_time_limit(mail_settings: None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mail, "LIMIT_S", 0.3)
    given_up = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: given_up.wait(WAIT_MOST_S))
    began = time.monotonic()
    with pytest.raises(mail.MailDelayed, match="did not answer within"):
        mail.send(mail.message_of(LETTER, "1"))
    given_up.set()
    assert time.monotonic() - began < WAIT_MOST_S


def test_a_refused_recipient_is_given_up(database: Engine, mail_settings: None, mail_server: MailServer):
    mail_server.refusals[LETTER.to] = "550 no such user"
    mail_id = posted()
    due_now()
    failed = stored(mail_id)
    assert (failed.state, failed.encrypted_content) == ("failed", None)
    assert "no such user" in failed.answer


def test_a_link_that_has_ended_is_not_sent(database: Engine, mail_settings: None, mail_server: MailServer):
    mail_server.refusals[LETTER.to] = "451 busy"
    mail_id = posted(valid_for=timedelta(seconds=5))
    due_now()
    assert stored(mail_id).state == "failed"


def test_without_a_server_nothing_is_stored(database: Engine):
    with pytest.raises(ProductError, match="SINEMORA_SMTP_URL"):
        posted()


def test_a_tenant_sends_so_many_mails_a_day(owner: Member, mail_settings: None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(outbox, "_DAY_MAX", 2)
    with tenant_session(owner.tenant_id) as session:
        for _ in range(2):
            outbox.post(session, "test", LETTER, timedelta(days=1))
        with pytest.raises(ProductError) as refused:
            outbox.post(session, "test", LETTER, timedelta(days=1))
    assert (refused.value.code, refused.value.status) == ("too_many_mails", 429)


def test_addresses():
    assert all(map(mail.is_address, ["ada@example.com", "Ada.Byron+x@mail"]))
    wrong = ["@example.com", "ada@", "ada", "a b@example.com", "<ada@example.com>", "a" * 250 + "@example.com"]
    wrong += ["ada@example.com\nBcc: x@example.com", "ada@example.com,eve@example.com"]
    assert [text for text in wrong if mail.is_address(text)] == []
