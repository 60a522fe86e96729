"""The examples of a gateway in containers: valid by the schemas of Kubernetes, with options that the command has."""

import re
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from typer.main import get_command

from sinemora.kit.config import Settings
from sinemora.operations.gateway.command import app

INFRA = Path(__file__).parents[4] / "infra"
MANIFEST = INFRA / "deploy" / "kubernetes" / "gateway.yaml"
COMPOSE = INFRA / "docker" / "gateway.yml"


def known() -> set[str]:
    """Return the variables that the command reads."""
    options = {str(parameter.envvar) for parameter in get_command(app).params if parameter.envvar}  # type: ignore[attr-defined]
    return options | {f"SINEMORA_{name.upper()}" for name in Settings.model_fields}


def documents() -> dict[str, dict[str, Any]]:
    return {one["kind"]: one for one in yaml.safe_load_all(MANIFEST.read_text("utf-8"))}


@pytest.mark.parametrize("kind", ["Namespace", "Service", "StatefulSet"])
def test_manifests_are_valid(kind: str) -> None:
    kubernetes_validate.validate(documents()[kind], kubernetes_validate.latest_version(), strict=True)


def test_the_pod_sets_options_of_the_command_and_keeps_its_queue() -> None:
    stateful = documents()["StatefulSet"]["spec"]
    [container] = stateful["template"]["spec"]["containers"]
    options = {one["name"]: one["value"] for one in container["env"]}
    assert set(options) <= known()
    claim = stateful["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"]
    assert int(claim.removesuffix("Gi")) * 1024 > int(options["SINEMORA_GATEWAY_CAPACITY_MIB"])
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert options["SINEMORA_GATEWAY_DIRECTORY"].startswith(mounts["queue"])


def test_the_compose_file_sets_options_of_the_command() -> None:
    service = yaml.safe_load(COMPOSE.read_text("utf-8"))["services"]["gateway"]
    assert set(service["environment"]) <= known()
    folders = {volume.rpartition(":/")[2].removesuffix(":ro") for volume in service["volumes"]}
    assert folders == {"queue", "tls"}
    assert re.search(r"\|\| *true", str(service["healthcheck"])) is None
