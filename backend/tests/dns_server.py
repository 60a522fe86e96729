"""A DNS server on a free port that answers for TXT records, or in the ways in which servers fail."""

import socketserver
from collections.abc import Iterator

import dns.flags
import dns.message
import dns.rcode
import dns.resolver
import dns.rrset
import pytest

from tests.mail_server import serve


class DnsServer(socketserver.ThreadingUDPServer):
    """Answers with `records`, by domain; None: not at all, a code of DNS: with it, no entry: the domain is unknown."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Query)
        self.records: dict[str, list[str] | dns.rcode.Rcode | None] = {}


class _Query(socketserver.BaseRequestHandler):
    server: DnsServer

    def handle(self) -> None:
        wire, connection = self.request
        query = dns.message.from_wire(wire)
        name = query.question[0].name
        found = self.server.records.get(name.to_text(omit_final_dot=True), dns.rcode.NXDOMAIN)
        if found is None:
            return
        answer = dns.message.make_response(query)
        answer.flags |= dns.flags.RA
        if found == []:
            pass  # the domain has no TXT records
        elif isinstance(found, list):
            texts = [f'"{text[:30]}" "{text[30:]}"' for text in found]  # long records come in parts
            answer.answer.append(dns.rrset.from_text(name, 60, "IN", "TXT", *texts))
        else:
            answer.set_rcode(found)
        connection.sendto(answer.to_wire(), self.client_address)


@pytest.fixture
def dns_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[DnsServer]:
    """A DNS server that the resolver asks instead of those of this machine."""
    server = DnsServer()

    def read(resolver: dns.resolver.Resolver, _: object) -> None:
        resolver.nameservers, resolver.port = ["127.0.0.1"], server.server_address[1]

    monkeypatch.setattr(dns.resolver.Resolver, "read_resolv_conf", read)
    yield from serve(server)
