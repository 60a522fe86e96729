"""Tests of the Helm charts: what Helm renders, by the schemas of Kubernetes, and in step with the Compose stack."""

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "infra" / "deploy" / "helm" / "sinemora"
AGENT = CHART.parent / "sinemora-agent"
PINNED = tomllib.loads((ROOT / "infra/toolchain/versions.toml").read_text("utf-8"))["helm"]["pinned"]
HELM = ROOT / ".tools" / "helm" / PINNED / "helm"
# Helm knows no cluster here.
KUBERNETES = ("--kube-version", "1.31.0")
GIVEN = {
    "publicUrl": "https://sinemora.example.com:8443",
    "database.host": "database.example.com",
    "existingSecret": "sinemora",
}
WHOLE = GIVEN | {
    "autoscaling.enabled": "true",
    "autoscaling.byBacklog": "true",
    "ingress.tlsSecret": "certificate",
    "secretKeys": "{smtp_url,oidc_client_secret,storage_secret_key,traces_headers}",
    "extraEnv[0].name": "HTTPS_PROXY",
    "extraEnv[0].value": "http://proxy.example.com:3128",
    "extraVolumes[0].name": "authority",
    "extraVolumes[0].configMap.name": "authority",
    "extraVolumeMounts[0].name": "authority",
    "extraVolumeMounts[0].mountPath": "/etc/authority",
    "podAnnotations.a": "b",
    "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution": "null",
    "serviceMonitor.enabled": "true",
    "serviceMonitor.labels.release": "prometheus",
    "networkTopology.enabled": "true",
    "networkTopology.apiKeySecret": "key",
}
OF_AGENT = {"backend": "https://sinemora.example.com", "existingSecret": "enrolment"}


def helm(*arguments: str, **values: str) -> subprocess.CompletedProcess[str]:
    """Run Helm with values by name, on the backend's chart or on `chart`."""
    chart = values.pop("chart", str(CHART))
    given = [part for name, value in values.items() for part in ("--set", f"{name}={value}")]
    command = [str(HELM), *arguments, chart, *KUBERNETES, *given]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def rendered(**values: str) -> list[dict[str, Any]]:
    """Return the objects of a release named `s`."""
    done = helm("template", "s", **values)
    assert done.returncode == 0, done.stderr
    return [one for one in yaml.safe_load_all(done.stdout) if one]


def refusal(**values: str) -> str:
    """Return why Helm renders nothing."""
    done = helm("template", "s", **values)
    assert done.returncode != 0
    return done.stderr


def named(objects: list[dict[str, Any]], kind: str) -> dict[str, dict[str, Any]]:
    """Return the objects of a kind by the name of their part."""
    return {one["metadata"]["name"].removeprefix("s-"): one for one in objects if one["kind"] == kind}


def containers(objects: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the container of each Deployment and Job."""
    pods = named(objects, "Deployment") | named(objects, "Job")
    return {name: one["spec"]["template"]["spec"]["containers"][0] for name, one in pods.items()}


def test_helm_has_no_complaint() -> None:
    for chart, values in ((CHART, GIVEN), (AGENT, OF_AGENT)):
        done = helm("lint", "--strict", chart=str(chart), **values)
        assert done.returncode == 0, done.stdout


def check(objects: list[dict[str, Any]]) -> None:
    """Compare objects with the schemas of Kubernetes."""
    assert objects
    for one in objects:
        kubernetes_validate.validate(one, kubernetes_validate.latest_version(), strict=True)


@pytest.mark.parametrize("values", [GIVEN, WHOLE, GIVEN | {"redis.host": "redis.example.com:6379"}])
def test_every_object_is_valid(values: dict[str, str]) -> None:
    check([one for one in rendered(**values) if one["kind"] != "ServiceMonitor"])


@pytest.mark.parametrize("name", GIVEN)
def test_a_missing_value_is_named(name: str) -> None:
    assert f"{name} is missing" in refusal(**{key: value for key, value in GIVEN.items() if key != name})


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("publicURL", "x", "'publicURL' not allowed"),
        ("publicUrl", "sinemora.example.com", "/publicUrl"),
        ("settings.QUOTA", "5", "/settings"),
        ("workers.worker.queues", "slow", "/workers/worker/queues"),
        ("api.replicas", "0", "/api/replicas"),
        ("settings.SINEMORA_RETENTION_RAW_DAY", "5d", "settings.SINEMORA_RETENTION_RAW_DAY is no setting"),
        ("workers.worker.queues", "bulk", "none has the queue upkeep"),
        ("workers.notifier.queues", "fast", "none has the queue notices"),
        ("workers.solver.queues", "bulk", "none has the queue solve"),
        ("autoscaling.byBacklog", "true", "no effect without autoscaling.enabled"),
        ("networkTopology.enabled", "true", "networkTopology.apiKeySecret is missing"),
        ("secretKeys", "{smtp_ulr}", "/secretKeys/0"),
        ("extraEnv[0].name", "SINEMORA_HOST", "/extraEnv/0/name"),
        ("serviceMonitor.interval", "often", "/serviceMonitor/interval"),
        ("autoscaling.api.min", "9", "autoscaling.api: min (9) is above max (8)"),
        ("settings.SINEMORA_SMTP_URL", "smtp://a", "secretKeys and settings both have smtp_url"),
    ],
)
def test_a_wrong_value_is_refused(name: str, value: str, said: str) -> None:
    assert said in refusal(**GIVEN | {"secretKeys": "{smtp_url}"} | {name: value})


def test_processes_are_those_of_the_compose_stack() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))["services"]
    args = {name: container["args"] for name, container in containers(rendered(**GIVEN)).items() if name != "redis"}
    assert args == {name: services[name]["command"] for name in args}
    assert set(args) == {"api", "worker", "watcher", "notifier", "mover", "solver", "beat", "migrate"}


def test_settings_are_those_of_the_product() -> None:
    known = (ROOT / ".env.example").read_text("utf-8")
    for name, container in containers(rendered(**GIVEN)).items():
        for setting in container.get("env", []):
            assert setting["name"].removesuffix("_FILE") in known, name


def test_the_chart_knows_every_setting() -> None:
    names = re.findall(r"^#? ?(SINEMORA_[A-Z0-9_]+)", (ROOT / ".env.example").read_text("utf-8"), re.MULTILINE)
    assert (CHART / "settings.txt").read_text("utf-8").split() == sorted(set(names))
    for name in ("SINEMORA_QUOTA_VMS", "SINEMORA_SMTP_URL_FILE", "OTEL_SERVICE_NAME"):
        assert helm("template", "s", **GIVEN | {f"settings.{name}": "text"}).returncode == 0


def test_the_controller_may_write_one_resource() -> None:
    assert not named(rendered(**GIVEN), "CronJob")
    [rule] = named(rendered(**WHOLE), "Role")["network-topology"]["rules"]
    assert (rule["resources"], rule["resourceNames"], rule["verbs"]) == (
        ["networktopologies"],
        ["sinemora"],
        ["create", "patch"],
    )


def test_a_setting_replaces_that_of_the_chart_once() -> None:
    objects = rendered(**GIVEN | {"settings.SINEMORA_LOG_FORMAT": "text"})
    set_to = [one["value"] for one in containers(objects)["api"]["env"] if one["name"] == "SINEMORA_LOG_FORMAT"]
    assert set_to == ["text"]


def test_further_secrets_are_files_of_the_existing_secret() -> None:
    for name, container in containers(
        [one for one in rendered(**WHOLE) if "redis" not in str(one["metadata"])]
    ).items():
        variables = {one["name"]: one.get("value") for one in container["env"]}
        assert variables["SINEMORA_SMTP_URL_FILE"] == "/run/secrets/sinemora/smtp_url", name
        assert variables["HTTPS_PROXY"] == "http://proxy.example.com:3128"
        assert {"name": "authority", "mountPath": "/etc/authority"} in container["volumeMounts"]
    pod = named(rendered(**WHOLE), "Deployment")["worker"]["spec"]["template"]
    [secret] = [one["secret"] for one in pod["spec"]["volumes"] if one["name"] == "secrets"]
    assert {"key": "smtp_url", "path": "smtp_url"} in secret["items"]
    assert pod["metadata"]["annotations"] == {"a": "b"}


def test_the_monitor_finds_the_service_of_the_api() -> None:
    objects = rendered(**WHOLE)
    [monitor] = named(objects, "ServiceMonitor").values()
    service = named(objects, "Service")["api"]
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    [endpoint] = monitor["spec"]["endpoints"]
    assert endpoint["port"] in {port["name"] for port in service["spec"]["ports"]}
    # An alert looks for the product in the name of the job.
    assert "sinemora" in service["metadata"]["labels"][monitor["spec"]["jobLabel"]]


def test_the_agents_chart_makes_the_pod_of_the_plain_manifest() -> None:
    plain = list(yaml.safe_load_all((CHART.parents[1] / "kubernetes" / "agent.yaml").read_text("utf-8")))
    of_both = [named(objects, "DaemonSet").popitem()[1] for objects in (rendered(chart=str(AGENT), **OF_AGENT), plain)]
    made, written = (one["spec"]["template"]["spec"] for one in of_both)
    for pod in (made, written):
        container = pod["containers"][0]
        del container["image"]
        container.pop("imagePullPolicy", None)
        container["env"] = [one for one in container["env"] if one["name"] not in ("SINEMORA_AGENT_BACKEND",)]
        for variable in container["env"]:
            variable.get("valueFrom", {}).get("secretKeyRef", {}).pop("name", None)
    assert made == written


def test_the_agents_chart_is_valid_and_names_what_is_wrong() -> None:
    check(rendered(chart=str(AGENT), **OF_AGENT))
    whole = {"backend": "https://a.example", "token": "sme_a", "settings.zone_name": "rack-1", "priorityClassName": "c"}
    objects = rendered(chart=str(AGENT), **whole, **{"transfer.artifacts": "true", "transfer.bulkSender": "true"})
    check(objects)
    assert [one["kind"] for one in objects] == ["Secret", "DaemonSet"]
    agent, transfer = objects[1]["spec"]["template"]["spec"]["containers"]
    assert {"name": "SINEMORA_AGENT_ZONE_NAME", "value": "rack-1"} in agent["env"]
    assert transfer["command"] == ["/sinemora-transfer", "run", "--artifacts", "--bulk-sender"]
    assert "token" not in str(transfer["env"]).lower()
    for values, said in (
        ({"existingSecret": "a"}, "backend is missing"),
        ({"backend": "https://a.example"}, "existingSecret is missing"),
        (OF_AGENT | {"token": "sme_a"}, "token and existingSecret are both set"),
        (OF_AGENT | {"settings.state_dir": "/x"}, "state_dir"),
        (OF_AGENT | {"token": "abc"}, "/token"),
    ):
        assert said in refusal(chart=str(AGENT), **values)


def test_only_the_migration_has_the_password_of_the_owner() -> None:
    for one in rendered(**GIVEN):
        assert ("database_owner_password" in str(one)) == (one["kind"] == "Job"), one["metadata"]["name"]


def test_backlogs_scale_what_works_them_off() -> None:
    scalers = named(rendered(**WHOLE), "HorizontalPodAutoscaler")
    metrics = {
        name: [metric[metric["type"].lower()].get("metric", {}).get("name") for metric in one["spec"]["metrics"][1:]]
        for name, one in scalers.items()
    }
    assert metrics == {
        "api": ["sinemora_ingest_queue_reports"],
        "worker": ["sinemora_queue_tasks", "sinemora_rollup_lag_seconds"],
        "solver": ["sinemora_queue_tasks"],
    }
    adapter = yaml.safe_load((CHART.parent / "prometheus-adapter.yaml").read_text("utf-8"))["rules"]
    queries = str(adapter["custom"] + adapter["external"])
    documented = (ROOT / "docs" / "monitoring.md").read_text("utf-8")
    for name in {one for names in metrics.values() for one in names}:
        assert name in queries
        assert f"`{name}`" in documented
    # A scaled Deployment has no number of replicas that an upgrade would set back.
    deployments = named(rendered(**WHOLE), "Deployment")
    assert {name for name, one in deployments.items() if "replicas" not in one["spec"]} == set(scalers)


def test_what_has_several_pods_has_a_disruption_budget_that_selects_them() -> None:
    objects = rendered(**GIVEN)
    deployments = named(objects, "Deployment")
    for name, budget in named(objects, "PodDisruptionBudget").items():
        labels = deployments[name]["spec"]["template"]["metadata"]["labels"]
        assert budget["spec"]["selector"]["matchLabels"].items() <= labels.items()
    assert set(named(objects, "PodDisruptionBudget")) == {"api", "worker", "watcher", "notifier", "mover", "solver"}


def test_a_new_api_is_ready_before_an_old_one_ends() -> None:
    api = named(rendered(**GIVEN), "Deployment")["api"]
    assert api["spec"]["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
    container = api["spec"]["template"]["spec"]["containers"][0]
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"


@pytest.mark.parametrize("address", ["sinemora.example.com:8443", "Sinemora.Example.com"])
def test_the_ingress_has_the_host_without_its_port_in_lower_case(address: str) -> None:
    ingress = named(rendered(**WHOLE | {"publicUrl": f"https://{address}"}), "Ingress")["s"]["spec"]
    assert ingress["rules"][0]["host"] == "sinemora.example.com"
    assert ingress["tls"] == [{"hosts": ["sinemora.example.com"], "secretName": "certificate"}]
    assert "tls" not in named(rendered(**GIVEN | {"publicUrl": "http://10.0.0.1"}), "Ingress")["s"]["spec"]


@pytest.mark.parametrize("address", ["10.0.0.1", "10.0.0.1:8443", "[2001:db8::1]", "[2001:db8::1]:8443"])
def test_the_ingress_of_an_address_is_for_every_name(address: str) -> None:
    ingress = named(rendered(**WHOLE | {"publicUrl": f"https://{address}"}), "Ingress")["s"]["spec"]
    assert "host" not in ingress["rules"][0]
    assert ingress["tls"] == [{"hosts": [], "secretName": "certificate"}]
