"""The gateway of `make up` for VMs of one's own."""

import socket
import ssl
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sinemora.kit.config import Settings
from sinemora.operations.embedded.data_folder import DataFolder
from sinemora.operations.embedded.own_gateway import own_gateway, pin_of
from sinemora.operations.embedded.programs import Program
from sinemora.operations.embedded.servers.service_user import service_user


def gateway(folder: Path, env: dict[str, str], **settings: str) -> Program | None:
    chosen = Settings(_env_file=None, **settings)  # type: ignore[arg-type]
    return own_gateway(chosen, DataFolder(folder), chosen.local_url, env, service_user("nobody"))


def started(folder: Path, **settings: str) -> dict[str, str]:
    env: dict[str, str] = {}
    gateway(folder, env, **settings)
    return env


def test_it_is_ready_when_it_answers_itself_and_not_another_program_at_its_port(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        program = gateway(tmp_path / "ours", {}, agents_url=f"https://10.0.0.9:{port}")
        gateway(tmp_path / "other", {}, agents_url=f"https://10.0.0.9:{port}")
        assert program is not None
        assert program.ready is not None
        assert program.responds is not None
        for whose, is_ready in (("other", False), ("ours", True)):
            place = tmp_path / whose / "gateway"
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(place / "certificate.pem", place / "key.pem")
            with ThreadPoolExecutor(1) as server, context.wrap_socket(listener.dup(), server_side=True) as tls:
                server.submit(tls.accept)
                assert program.ready() is is_ready
    assert not program.ready()
    assert not program.responds()  # it is killed and started again


def test_a_start_that_was_interrupted_before_the_certificate_makes_both_again(tmp_path: Path) -> None:
    started(tmp_path, agents_url="https://10.0.0.9:8555")
    place = tmp_path / "gateway"
    (place / "certificate.pem").unlink()
    (place / "key.pem").write_bytes(b"")
    started(tmp_path, agents_url="https://10.0.0.9:8555")
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(place / "certificate.pem", place / "key.pem")


def test_its_key_and_port_outlive_a_restart_and_its_address_can_be_named(tmp_path: Path) -> None:
    first = started(tmp_path, agents_url="https://10.0.0.9:8555")
    assert first["SINEMORA_AGENTS_URL"] == "https://10.0.0.9:8555"
    assert first["SINEMORA_AGENTS_PIN"] == pin_of(tmp_path / "gateway" / "certificate.pem")
    (tmp_path / "gateway" / "port").write_text("8477")
    second = started(tmp_path, agents_url="")
    assert second == {} or second["SINEMORA_AGENTS_URL"].endswith(":8477")  # {}: a machine without a network
    assert started(tmp_path, agents_url="https://10.0.0.9:8555") == first
    place = tmp_path / "gateway"
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(place / "certificate.pem", place / "key.pem")


def test_none_starts_where_agents_reach_the_product_another_way(tmp_path: Path) -> None:
    pin = f"sha256//{'A' * 43}="
    assert started(tmp_path, public_url="https://net.example") == {}
    assert started(tmp_path, agents_url="http://127.0.0.1:8420") == {}
    assert started(tmp_path, agents_url="https://edge.example", agents_pin=pin) == {}
    assert not (tmp_path / "gateway").exists()
