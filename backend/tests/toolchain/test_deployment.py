"""Manifests and snippets of agents and gateways: valid by their own schemas, in step with the programs' settings."""

import re
import subprocess
from pathlib import Path
from typing import Any

import hcl2
import kubernetes_validate
import pytest
import yaml
from typer.main import get_command

from sinemora.kit.config import Settings
from sinemora.operations.gateway.command import app

_ROOT = Path(__file__).resolve().parents[3]
_DEPLOY = _ROOT / "infra" / "deploy"
_KUBERNETES = _DEPLOY / "kubernetes"
_GATEWAY = _ROOT / "infra" / "docker" / "gateway.yml"
_USER_DATA = _DEPLOY / "cloud-init" / "user-data.yaml"
_TERRAFORM = _DEPLOY / "terraform" / "main.tf"


def _settings() -> set[str]:
    """Return the agent's settings, from the table of its documentation (which its own tests compare with the code)."""
    table = re.findall(r"^\| `([a-z_]+)` \|", (_ROOT / "docs" / "agent.md").read_text("utf-8"), re.MULTILINE)
    return set(table)


def _variables_of_a_gateway() -> set[str]:
    options = {str(parameter.envvar) for parameter in get_command(app).params if parameter.envvar}
    return options | {f"SINEMORA_{name.upper()}" for name in Settings.model_fields}


def _documents(name: str = "agent") -> dict[str, dict[str, Any]]:
    return {one["kind"]: one for one in yaml.safe_load_all((_KUBERNETES / f"{name}.yaml").read_text("utf-8"))}


@pytest.mark.parametrize(
    ("name", "kinds"),
    [("agent", {"Namespace", "Secret", "DaemonSet"}), ("gateway", {"Namespace", "Service", "StatefulSet"})],
)
def test_manifests_are_valid(name: str, kinds: set[str]) -> None:
    documents = _documents(name)
    assert documents.keys() >= kinds
    for one in documents.values():
        kubernetes_validate.validate(one, kubernetes_validate.latest_version(), strict=True)


def test_the_pod_has_the_network_of_its_node_and_no_privilege_but_its_ports() -> None:
    pod = _documents()["DaemonSet"]["spec"]["template"]["spec"]
    [container] = pod["containers"]
    context = container["securityContext"]
    assert pod["hostNetwork"] is True
    assert context["capabilities"] == {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}
    assert (context["allowPrivilegeEscalation"], context["readOnlyRootFilesystem"]) == (False, True)
    state = "/var/lib/sinemora-agent"
    assert [mount["mountPath"] for mount in container["volumeMounts"]] == [state]
    assert pod["volumes"][0]["hostPath"]["path"] == state


def test_the_pod_sets_settings_of_the_agent() -> None:
    [container] = _documents()["DaemonSet"]["spec"]["template"]["spec"]["containers"]
    names = [one["name"] for one in container["env"]]
    assert {name.removeprefix("SINEMORA_AGENT_").lower() for name in names} <= _settings()
    assert {"SINEMORA_AGENT_BACKEND", "SINEMORA_AGENT_TOKEN"} <= set(names)


def test_the_pod_of_a_gateway_sets_options_of_the_command_and_keeps_its_queue() -> None:
    stateful = _documents("gateway")["StatefulSet"]["spec"]
    [container] = stateful["template"]["spec"]["containers"]
    options = {one["name"]: one["value"] for one in container["env"]}
    assert set(options) <= _variables_of_a_gateway()
    claim = stateful["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"]
    assert int(claim.removesuffix("Gi")) * 1024 > int(options["SINEMORA_GATEWAY_CAPACITY_MIB"])
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert options["SINEMORA_GATEWAY_DIRECTORY"].startswith(mounts["queue"])


def test_the_compose_file_of_a_gateway_sets_options_of_the_command() -> None:
    service = yaml.safe_load(_GATEWAY.read_text("utf-8"))["services"]["gateway"]
    assert set(service["environment"]) <= _variables_of_a_gateway()
    folders = {volume.rpartition(":/")[2].removesuffix(":ro") for volume in service["volumes"]}
    assert folders == {"queue", "tls"}
    assert re.search(r"\|\| *true", str(service["healthcheck"])) is None


def test_the_user_data_installs_the_agent_with_settings_it_knows() -> None:
    text = _USER_DATA.read_text("utf-8")
    assert text.startswith("#cloud-config\n")
    data = yaml.safe_load(text)
    assert set(data) == {"write_files", "runcmd"}
    [secrets] = data["write_files"]
    assert (secrets["path"], secrets["permissions"]) == ("/etc/sinemora/agent.env", "0600")
    assert re.fullmatch(r"SINEMORA_AGENT_TOKEN=sme_\w+\n", secrets["content"])
    script = "\n".join(data["runcmd"])
    subprocess.run(["sh", "-n"], input=script.encode(), check=True)
    assert "sme_" not in script, "a command line is readable by every user"
    options = re.findall(r"--([a-z-]+)", data["runcmd"][-1])
    assert {option.replace("-", "_") for option in options} <= _settings()


def test_the_terraform_configuration_opens_the_ports_and_uses_its_variables() -> None:
    text = _TERRAFORM.read_text("utf-8")
    configuration = hcl2.loads(text)
    declared = {name.strip('"') for variable in configuration["variable"] for name in variable}
    assert declared == set(re.findall(r"\bvar\.(\w+)", text))
    ports = re.search(r"from_port\s+= (\d+)\s+to_port\s+= (\d+)\s+self", text)
    assert ports is not None
    assert ports.groups() == ("319", "320")
    path = re.search(r"path\.module\}/([^\"]+)\"", text)
    assert path is not None
    user_data = (_TERRAFORM.parent / path[1]).read_text("utf-8")
    for replaced in re.findall(r'^    "(\S+)", var\.', text, re.MULTILINE):
        assert replaced in user_data
