"""Evidence of incidents: a report that a third party verifies without the product."""

import base64
import hashlib
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from sinemora.fleet.meshes.plan import is_client
from sinemora.kit import signing
from tests.alerts.conftest import QUIET_NS, SLOW_NS, Watched, egress
from tests.api_clients import Caller, SetTo, code_of
from tests.measurements.reports import report_of, sent
from tests.measurements.worlds import simple

pytestmark = pytest.mark.usefixtures("secret_key")


@pytest.fixture
def incident(watched: Watched) -> str:
    """An incident of the paths from c-1 with a spike on the path to a-1."""
    watched.windows(6)
    watched.windows(3, egress(watched, 2))
    source, target = watched.world.agents[2], watched.world.agents[0]
    client, peer = (source, target) if is_client(source.vm_key, target.vm_key) else (target, source)
    report = report_of(watched.world.key, {peer.vm_key: simple(SLOW_NS, QUIET_NS)}, watched.started_at_s)
    spike = report.windows[0].evidence.add(peer_key=peer.vm_key)
    spike.at_ns.extend([1_000, 2_000])
    spike.outbound_ns.extend([5_000_000, 9_000_000])
    spike.inbound_ns.extend([200_000, 210_000])
    sent(client, report)
    watched.started_at_s += 10
    watched.window()
    (found,) = watched.incidents()
    return str(found["id"])


def rfc8785(value: Any) -> str:
    """Write JSON as RFC 8785 does, for text, whole numbers, booleans and null; independent of the product."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{rfc8785(key)}:{rfc8785(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(rfc8785, value)) + "]"
    if isinstance(value, str):
        short = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
        return '"' + "".join(short.get(c, f"\\u{ord(c):04x}" if c < " " else c) for c in value) + '"'
    assert value is None or isinstance(value, bool | int)
    return {None: "null", True: "true", False: "false"}[value] if type(value) is not int else str(value)


def test_canonical_json_is_that_of_rfc_8785():
    sample = {"b": [1, True, None, -5], "a": {"z": '€$\x0f\nA\'B"\\\\"/', "A": ""}, "é".encode().hex(): "\u2028\x7f"}
    assert signing.canonical(sample).decode() == rfc8785(sample)
    # The text of section 3.2.2.2.
    assert signing.canonical('€$\x0f\nA\'B"\\\\"/').decode() == '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'
    for wrong in (0.5, 2**53, [1.0], {"é": 1}):
        with pytest.raises(ValueError, match="Invalid"):
            signing.canonical(wrong)


def test_a_third_party_verifies_the_report(watched: Watched, incident: str, client: Caller, set_to: SetTo):
    signed = watched.owner.get(f"/v1/incidents/{incident}/evidence").json()
    published = client.get("/v1/evidence-keys").json()["keys"]
    signature = signed["signature"]
    (key,) = [one for one in published if one["key_id"] == signature["key_id"]]
    raw = base64.b64decode(key["public_key"])
    assert hashlib.sha256(raw).hexdigest()[:16] == key["key_id"]
    public_key, value = Ed25519PublicKey.from_public_bytes(raw), base64.b64decode(signature["value"])
    public_key.verify(value, rfc8785(signed["report"]).encode())
    changed = json.loads(json.dumps(signed["report"]))
    changed["paths"][0]["during"]["p50_ns"] -= 1
    with pytest.raises(InvalidSignature):
        public_key.verify(value, rfc8785(changed).encode())
    again = watched.owner.get(f"/v1/incidents/{incident}/evidence")
    assert again.json() == signed
    for secret in ("of the tests", str(watched.owner.tenant_id), watched.owner.email):
        assert secret not in again.text
    # Without a secret key nothing is signed.
    set_to(secret_key="")
    assert code_of(watched.owner.get(f"/v1/incidents/{incident}/evidence")) == (409, "secret_key_missing")


def test_the_report_has_the_paths_before_and_during_the_incident(watched: Watched, incident: str):
    report = watched.owner.get(f"/v1/incidents/{incident}/evidence").json()["report"]
    names = {vm["id"]: vm["name"] for vm in report["vms"]}
    paths = {(names[path["source"]], names[path["target"]]): path for path in report["paths"]}
    assert report["affected_paths"] == len(paths) == 5
    assert {source for source, _ in paths} == {"c-1"}
    path = paths["c-1", "a-1"]
    assert abs(path["before"]["p50_ns"] - QUIET_NS) < QUIET_NS * 0.02
    assert abs(path["during"]["p50_ns"] - SLOW_NS) < SLOW_NS * 0.02
    assert (path["before"]["loss_ppm"], path["before"]["asymmetry_source"]) == (0, "assumed")
    assert path["before"]["clock_error_ns"] >= 0
    assert path["during"]["count"] > 0
    assert path["during"]["round_trip"]["p50_ns"] > SLOW_NS
    onset = datetime.fromisoformat(report["incident"]["onset_at"])
    assert datetime.fromisoformat(report["before"]["to"]) - onset < timedelta(minutes=1)
    assert datetime.fromisoformat(report["during"]["from"]).tzinfo == UTC
    (spike,) = report["spikes"]
    assert {names[spike["source"]], names[spike["target"]]} == {"a-1", "c-1"}
    assert spike["exchanges"][1] == {"at_ns": 2_000, "outbound_ns": 9_000_000, "inbound_ns": 210_000}
    assert report["incident"]["verdict"] == {"kind": "undecided", "reasons": ["no_usual", "no_applications"]}
    assert {vm["zone"]["name"] for vm in report["vms"]} == {"a", "b", "c"}


def test_keys_before_a_change_of_the_secret_stay_published(set_to: SetTo):
    document = {"a": 1}
    before, old = signing.sign(document), signing.public_keys()
    set_to(secret_key="new, of the tests")
    new, *rest = signing.public_keys()
    assert rest == old != [new]
    assert signing.sign(document).key_id == signing.key_id(new) != before.key_id
    assert [signing.verifies(document, before.value, key) for key in (new, *rest)] == [False, True]
    assert not signing.verifies(document, "no base64", new)


def test_a_terminal_writes_and_verifies_evidence(
    watched: Watched, incident: str, connected: Any, online: Any, run: Any, tmp_path: Path
):
    file = tmp_path / "evidence.json"
    at = ("--url", connected.url)
    assert json.loads(online("evidence", incident)) == watched.owner.get(f"/v1/incidents/{incident}/evidence").json()
    online("evidence", "get", incident, "--output", str(file))
    output = run("evidence", "verify", str(file), *at)
    assert ("Valid" in output, incident in output) == (True, True)
    public = watched.owner.get("/v1/evidence-keys").json()["keys"][0]["public_key"]
    run("evidence", "verify", str(file), "--key", public)
    run("evidence", "verify", str(file), "--key", base64.b64encode(bytes(32)).decode(), code=1)
    run("evidence", "verify", str(file), "--key", "short", code=1)
    file.write_text(file.read_text().replace('"paths from c-1"', '"paths from b-1"'))
    assert "Invalid" in run("evidence", "verify", str(file), *at, code=1)
    file.write_text("{}")
    assert "No evidence" in run("evidence", "verify", str(file), *at, code=1)
