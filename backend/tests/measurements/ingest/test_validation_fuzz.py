"""Whatever is sent as a report is stored or refused with a problem document: never a fault of ours."""

import random

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sinemora.measurements.ingest.agent_pb2 import Report
from tests.api_clients import MeshWorld
from tests.measurements.reports import PROTOBUF, ZSTD, report_of
from tests.measurements.worlds import silent, simple
from tests.seeds import examples

REPORTS = "/v1/agents/self/reports"
slow = settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
def mesh(owner, make_mesh) -> MeshWorld:
    return make_mesh(owner, 3)


def good(mesh: MeshWorld) -> Report:
    b, c = mesh.agents[1].vm_key, mesh.agents[2].vm_key
    report = report_of(mesh.key, {b: simple(50_000), c: silent()})
    evidence = report.windows[0].evidence.add(peer_key=b)
    for column in (evidence.at_ns, evidence.outbound_ns, evidence.inbound_ns):
        column.extend([1_000, 900_000])
    return report


def check(mesh: MeshWorld, body: bytes, headers: dict[str, str]) -> int:
    answer = mesh.agents[0].post(REPORTS, content=body, headers=headers)
    assert answer.status_code in (204, 404, 413, 415, 422), answer.text
    if answer.status_code != 204:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["code"] in {
            "body_too_large",
            "malformed_report",
            "mesh_unknown",
            "window_in_future",
            "window_too_old",
        }
    return answer.status_code


@slow
@given(seed=st.integers(0, 2**32), flips=st.integers(1, 12), compressed=st.booleans())
def test_bytes_of_a_good_report_changed_at_random(mesh, seed, flips, compressed):
    rng = random.Random(seed)
    body = bytearray(good(mesh).SerializeToString())
    for _ in range(flips):
        at = rng.randrange(len(body))
        match rng.randrange(4):
            case 0:
                body[at] ^= 1 << rng.randrange(8)
            case 1:
                body[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF])
            case 2:
                del body[at : at + rng.randrange(1, 9)]
            case _:
                body[at:at] = rng.randbytes(rng.randrange(1, 9))
    check(mesh, zstandard.compress(bytes(body)) if compressed else bytes(body), ZSTD if compressed else PROTOBUF)


edge = st.sampled_from([0, 1, -1, 2, 255, 2**15, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, -(2**63), 2**64 - 1])


@slow
@given(data=st.data())
def test_fields_of_a_good_report_set_to_extremes(mesh, data):
    report = good(mesh)
    window = report.windows[0]
    for _ in range(data.draw(st.integers(1, 4))):
        part = data.draw(
            st.sampled_from([window, window.outbound, window.inbound, window.round_trip, window.evidence[0], report])
        )
        field = data.draw(st.sampled_from([f for f in part.DESCRIPTOR.fields if f.message_type is None]))
        value = data.draw(edge)
        try:
            if field.is_repeated:
                column = getattr(part, field.name)
                match data.draw(st.integers(0, 2)):
                    case 0 if len(column):
                        column[data.draw(st.integers(0, len(column) - 1))] = value
                    case 1:
                        column.append(value)
                    case _:
                        del column[:]
            else:
                setattr(part, field.name, value)
        except (ValueError, TypeError):
            continue  # not a value of this field
    check(mesh, report.SerializeToString(), PROTOBUF)
