"""Notifications while the worker that sends them also has mails for a server that never answers."""

import socket
import time
from datetime import timedelta
from pathlib import Path

import pytest
from redis import Redis
from sqlalchemy import delete

from lab.benchmarks.storing.programs import program
from sinemora.kit import outbox
from sinemora.kit.mail import Mail
from sinemora.kit.outbox import OutgoingMail
from tests.alerts.notifications.servers import Hooks, receiver
from tests.api_clients import Member, SetTo
from tests.statements import call, execute
from tests.waits import until

MAILS = 40


@pytest.mark.whole_store
def test_a_mail_server_that_hangs_delays_no_notification(
    owner: Member, hooks: Hooks, local: None, redis: Redis, tmp_path: Path, set_to: SetTo
):
    with socket.create_server(("127.0.0.1", 0), backlog=MAILS) as silent:
        set_to(smtp_url=f"smtp://127.0.0.1:{silent.getsockname()[1]}")
        for _ in range(MAILS):
            call(outbox.post, "test", Mail("a@b.example", "Hi", ("Hi",)), timedelta(days=1))
        created = receiver(owner, "webhook", hooks)
        assert redis.llen("fast") == MAILS
        with program("notifier", tmp_path):
            until(lambda: redis.llen("fast") < MAILS, "the first mail")
            for tests in range(1, 4):
                assert owner.post(f"/v1/receivers/{created['id']}/tests").status_code == 201
                until(lambda tests=tests: len(hooks.got) == tests, "the notification", 12)
            # One at a time, and nothing waits for the next sweep.
            hooks.script.append(lambda hook: time.sleep(1) or hook.send_response(200) or hook.end_headers())
            for _ in range(3):
                assert owner.post(f"/v1/receivers/{created['id']}/tests").status_code == 201
            until(lambda: len(hooks.got) == 6, "three notifications one after the other", 12)
        execute(delete(OutgoingMail))  # they belong to no tenant, which would take them along
