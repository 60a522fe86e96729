"""Requests to addresses that tenants choose: only public ones, and those that the operator allows."""

import ipaddress
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sinemora.kit import egress_policy, special_networks
from sinemora.kit.config import Settings
from sinemora.kit.deadline import Deadline
from tests.waits import WAIT_MOST_S

METADATA = [
    "169.254.169.254",
    "fd00:ec2::254",
    "fd20:ce::254",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "2002:a9fe:a9fe::",
    "2002:7f00:1::",
    "2001:0:7f00:1::",
    "::7f00:1",
    "fe80::1%eth0",
    "fec0::1",
]


@pytest.mark.parametrize("address", METADATA)
def test_metadata_and_transition_addresses_are_refused(address: str):
    assert not special_networks.is_allowed(address, ())


@given(st.ip_addresses())
def test_what_python_calls_special_is_refused(address: ipaddress.IPv4Address | ipaddress.IPv6Address):
    # The standard library has its own table of the IANA registries.
    address = getattr(address, "ipv4_mapped", None) or address
    if not address.is_global or address.is_multicast or address.is_reserved:
        assert not special_networks.is_allowed(str(address), ())


@given(st.sampled_from([network for network in special_networks.SPECIAL if network.num_addresses > 1]))
def test_the_ends_of_every_network_are_refused_unless_allowed(network: special_networks.Network):
    for address in (str(network[0]), str(network[-1])):
        assert not special_networks.is_allowed(address, ())
        assert special_networks.is_allowed(address, (network,))


@pytest.mark.parametrize("address", ["1.1.1.1", "8.8.8.8", "2606:4700::1111", "::ffff:1.1.1.1"])
def test_public_addresses_are_allowed(address: str):
    assert special_networks.is_allowed(address, ())


def test_only_the_network_in_the_list_is_allowed():
    networks = special_networks.parse("10.1.0.0/16, 192.168.7.7")
    assert special_networks.is_allowed("10.1.2.3", networks)
    assert special_networks.is_allowed("192.168.7.7", networks)
    assert not special_networks.is_allowed("10.2.0.1", networks)
    assert not special_networks.is_allowed("192.168.7.8", networks)


@pytest.mark.parametrize("text", ["private", "10.0.0.1/8", "10.0.0.0/40", "*"])
def test_a_wrong_list_is_refused_with_its_form(text: str):
    with pytest.raises(ValidationError, match=r"10\.0\.0\.0/8"):
        Settings(receiver_networks=text)


def test_a_refusal_names_no_address():
    with pytest.raises(egress_policy.EgressRefused) as refusal, Deadline(5) as deadline:
        egress_policy.resolved("localhost", 80, (), deadline)
    assert "127.0.0.1" not in str(refusal.value)
    assert "::1" not in str(refusal.value)


@pytest.mark.parametrize("url", ["http://[::1", "http://a:99999/", "http://a:x/"])
def test_a_broken_url_is_refused(url: str):
    with pytest.raises(egress_policy.EgressRefused, match="invalid URL"):
        egress_policy.post(url, b"", {}, ())


def _drips(connection: socket.socket, first: bytes) -> None:
    """Answer a request with a beginning, then a byte every tenth of a second."""
    with connection, suppress(OSError):
        connection.recv(65536)
        connection.sendall(first)
        while True:
            connection.sendall(b"x")
            time.sleep(0.1)


@contextmanager
def _server(first: bytes) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    threading.Thread(target=_drips, args=(connection, first), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{server.getsockname()[1]}"


LOOPBACK = special_networks.parse("127.0.0.0/8")
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n"


@pytest.mark.parametrize(
    ("scheme", "first", "reason"),
    [
        ("http", b"", "did not answer within 0.5 s"),
        ("http", b"HTTP/1.1 200 OK\r\nX-Slow: ", "did not finish its answer within 0.5 s"),
        ("https", b"\x16\x03\x03\x10\x00\x02\x00\x0f\xff", "did not answer within 0.5 s"),
        ("http", HEAD, "did not finish its answer within 0.5 s"),
    ],
    ids=["status line", "header", "TLS", "body"],
)
def test_a_server_that_drips_is_given_up_on_at_the_time_limit(scheme: str, first: bytes, reason: str):
    with _server(first) as address:
        began = time.monotonic()
        with pytest.raises(egress_policy.EgressError, match=reason):
            egress_policy.request("GET", f"{scheme}://{address}/", LOOPBACK, {}, None, 1 << 20, 0.5)
        assert time.monotonic() - began < 5


def test_the_status_of_a_post_counts_even_if_the_body_takes_too_long(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(egress_policy, "POST_S", 0.5)
    with _server(HEAD) as address:
        answer = egress_policy.post(f"http://{address}/", b"{}", {}, LOOPBACK)
    assert (answer.status, answer.complete) == (200, False)
    assert set(answer.body) == set(b"x")


def test_a_slow_look_up_of_the_host_counts(monkeypatch: pytest.MonkeyPatch):
    given_up = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: given_up.wait(WAIT_MOST_S))
    began = time.monotonic()
    with pytest.raises(egress_policy.EgressError, match=r"a\.example:80 did not answer within 0\.5 s"):
        egress_policy.request("GET", "http://a.example/", LOOPBACK, {}, None, 1, 0.5)
    given_up.set()
    assert time.monotonic() - began < WAIT_MOST_S


@pytest.mark.parametrize("later", ["127.0.0.1", "169.254.169.254", "10.0.0.1"])
def test_a_host_that_changes_its_address_is_reached_at_the_one_that_was_checked(
    later: str, monkeypatch: pytest.MonkeyPatch
):
    """DNS rebinding: a public address for the check, a private one for every later question."""
    answers, reached = ["1.1.1.1"], list[str]()

    def looked_up(_host: str, port: int, *_: object, **__: object) -> list[tuple[object, ...]]:
        address = answers.pop() if answers else later
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    def connect(address: tuple[str, int], *_: object) -> socket.socket:
        reached.append(address[0])
        raise OSError("not reached")

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    monkeypatch.setattr(socket, "create_connection", connect)
    for refused in (egress_policy.EgressError, egress_policy.EgressRefused):
        with pytest.raises(refused):
            egress_policy.request("GET", "https://rebinds.example/", (), {}, None, 1, 5)
    assert reached == ["1.1.1.1"]


def test_a_redirect_is_an_answer_that_is_not_followed():
    with _server(
        b"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://169.254.169.254/\r\nContent-Length: 1\r\n\r\n"
    ) as at:
        answer = egress_policy.request("PUT", f"http://{at}/", LOOPBACK, {}, b"secret", 1 << 20, 5)
    assert answer.status == 307
