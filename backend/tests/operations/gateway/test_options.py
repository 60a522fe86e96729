"""Options of a gateway: what would send credentials in plain text, or cannot work, is refused with the remedy."""

from pathlib import Path

import pytest

from sinemora.operations.gateway.disk_queue import DiskQueue

GOOD = {"--listen": "127.0.0.1:8430", "--backend": "https://sinemora.example", "--acknowledge": "queued"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"--listen": "8430"}, "expected HOST:PORT"),
        ({"--listen": "0.0.0.0:8430"}, "--tls-certificate and --tls-key"),
        ({"--backend": "http://sinemora.example"}, "plain text"),
        ({"--backend": "https://sinemora.example/api"}, "expected https://HOST"),
        ({"--backend": "http://[::1"}, "expected https://HOST"),
        ({"--backend": "https://sinemora.example:abc"}, "expected https://HOST"),
        ({"--tls-certificate": "chain.pem"}, "needed together"),
        ({"--tls-certificate": "/nowhere.pem", "--tls-key": "/nowhere.key"}, "--tls-certificate /nowhere.pem: No such"),
        ({"--tls-certificate": __file__, "--tls-key": "/nowhere.key"}, "--tls-key /nowhere.key: No such"),
        ({"--ca-file": "/nowhere.pem"}, "--ca-file /nowhere.pem"),
        ({"--directory": "/proc/gateway"}, "--directory /proc/gateway"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, str], words: str, tmp_path: Path, run) -> None:
    every = {"--directory": str(tmp_path / "gateway"), **GOOD, **options}
    assert words in run("gateway", *(word for pair in every.items() for word in pair), code=1)


def test_a_folder_has_one_gateway(tmp_path: Path, run) -> None:
    queue = DiskQueue(tmp_path, 1 << 20)
    every = {**GOOD, "--directory": str(tmp_path)}
    assert "another gateway uses it" in run("gateway", *(word for pair in every.items() for word in pair), code=1)
    queue.close()
