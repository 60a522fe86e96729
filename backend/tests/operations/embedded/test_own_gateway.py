"""The gateway of `make up` for VMs of one's own."""

import ssl
from pathlib import Path

from sinemora.kit.config import Settings
from sinemora.operations.embedded.data_folder import DataFolder
from sinemora.operations.embedded.own_gateway import own_gateway, pin_of
from sinemora.operations.embedded.servers.service_user import service_user


def started(folder: Path, **settings: str) -> dict[str, str]:
    env: dict[str, str] = {}
    chosen = Settings(_env_file=None, **settings)  # type: ignore[arg-type]
    own_gateway(chosen, DataFolder(folder), chosen.local_url, env, service_user("nobody"))
    return env


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
