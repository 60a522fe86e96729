"""Tests of an agent whose state folder is on a full disk: it continues to measure and to report."""

import time

from agents import fleet_in_lab
from laboratory import wait_until

# Mount a separate disk over the state folder, write the state of an agent that has run before, and fill the disk.
_FULL_DISK = r"""
set -e
identity=$(cat "$1/identity.json")
mount -t tmpfs -o size=256k,mode=700 tmpfs "$1"
(umask 077; printf %s "$identity" > "$1/identity.json"; mkdir "$1/spool"; printf '%020d\n' 7 > "$1/sequence")
cat /dev/zero > "$1/fill" 2> /dev/null || true
shift
exec "$@"
"""


def test_reports_reach_the_backend_although_the_disk_is_full() -> None:
    with fleet_in_lab() as (lab, fleet):
        through = ["unshare", "--mount", "sh", "-c", _FULL_DISK, "sh"]
        client = fleet.agent(lab.host("client"), through=through)
        responder = fleet.agent(lab.host("responder"))
        client.measure(responder, 16)
        windows = client.await_windows(3, time.time() + 2)
        assert sum(window.round_trip.count[0] for window in windows) > 16
        wait_until("the message in the log", lambda: "the spool cannot be written" in client.process.output())
        metrics = client.metrics()
        assert metrics["sinemora_agent_reports_dropped_total"] == 0
        assert metrics["sinemora_agent_reports_sent_total"] > 0
        assert min(report.sequence for report in client.reports()) > 7
