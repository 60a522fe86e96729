"""Another server at the address of the backend: a page of a proxy stores no report, and readiness names it."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from tests.http_server import Answer, answering
from tests.measurements.reports import window_starts
from tests.operations.gateway.conftest import Gateways
from tests.operations.gateway.processes import HTTP, Api
from tests.operations.gateway.test_gateway import body_of, send, stored
from tests.waits import until

PAGES = {
    "maintenance": (200, "application/json", b'{"status": "maintenance"}'),
    "not found": (404, "application/json", b'{"code": 404, "message": "no such route"}'),
    "signed out": (401, "application/json", b'{"code": "token_invalid"}'),
    "page": (200, "text/html", b"<h1>We are back soon</h1>"),
}


@contextmanager
def another_server(address: str, *pages: tuple[int, str, bytes]) -> Iterator[list[str]]:
    """Answer at an address with the next page after each POST, then with the last; yield the methods of requests."""
    seen: list[str] = []

    def reply(request: BaseHTTPRequestHandler, _: bytes) -> Answer:
        status, media_type, content = pages[min(seen.count("POST"), len(pages) - 1)]
        seen.append(request.command)
        return status, {"Content-Type": media_type}, content

    with answering(reply, int(address.rpartition(":")[2])):
        yield seen


def test_a_queued_report_waits_for_the_backend_itself(
    api: Api, gateway: Gateways, owner, make_mesh, tmp_path: Path
) -> None:
    mesh, front = make_mesh(owner, 2), gateway("queued")
    first, second = window_starts([1, 2])
    assert send(front, mesh.agents[0], body_of(mesh, 0, first)).status_code == 204
    until(lambda: front.metric("sinemora_gateway_queue_reports") == 0, front.output)
    api.stop()
    assert send(front, mesh.agents[0], body_of(mesh, 0, second)).status_code == 204
    with another_server(api.url, *PAGES.values()) as seen:
        until(lambda: seen.count("POST") > len(PAGES), front.output)
        assert front.metric("sinemora_gateway_queue_reports") == 1
        assert front.metric("sinemora_gateway_refused_total") == 0
        other = gateway("stored", "--directory", str(tmp_path / "other"))
        answer = HTTP.get(other.url + "/readyz")
        assert answer.status_code == 503
        assert "another server answers" in answer.json()["dependencies"]["backend"]["detail"]
        assert other.metric("sinemora_gateway_backend_up") == 0
    api.start()
    until(lambda: front.metric("sinemora_gateway_queue_reports") == 0, front.output)
    until(lambda: HTTP.get(other.url + "/readyz").status_code == 200, other.output)
    assert stored(mesh) == Counter({(mesh.agents[0].vm_key, at): 1 for at in (first, second)})
