"""`sinemora network-topology`: measured delays between zones for the scheduler of a Kubernetes cluster."""

import os
import ssl
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated
from urllib.error import HTTPError

import yaml
from typer import Option, Typer

from sinemora.recommendations.core import kubernetes
from sinemora.recommendations.core.plan import NothingToWrite
from sinemora_client.commands import CommandError, Mesh, Terminal, api_command

app = Typer(rich_markup_mode=None)
_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_RESOURCES = "apis/networktopology.diktyo.x-k8s.io/v1alpha1/namespaces/{}/networktopologies/{}"
_MEASURED, _WAIT_S = timedelta(hours=1), 30


@api_command(app, "network-topology")
def network_topology(
    client: Terminal,
    mesh: Mesh = None,
    name: Annotated[str, Option(help="Name of the NetworkTopology.")] = "sinemora",
    apply: Annotated[bool, Option("--apply", help="Write it to the cluster of this pod.")] = False,
    account: Annotated[Path, Option(help="Folder of the pod's service account.")] = _ACCOUNT,
) -> None:
    """Print the costs between zones as a NetworkTopology, or write it to the cluster (API key)."""
    now = datetime.now(UTC)
    times = {"from": (now - _MEASURED).isoformat(), "to": now.isoformat()}
    matrix = client.get(f"/v1/meshes/{client.mesh_id(mesh)}/matrix", by="zone", statistic="p50", **times)
    region = {zone["id"]: zone["region"] for zone in client.items("/v1/zones")}
    zones = [(region[zone["id"]], zone["name"]) for zone in matrix["axis"]]
    try:
        found, left_out = kubernetes.network_topology(zones, matrix["values"], name)
    except NothingToWrite as error:
        raise CommandError(f"No costs: {error}.") from None
    if not apply:
        client.print_line(yaml.safe_dump(found, sort_keys=False).rstrip())
    else:
        _apply(name, yaml.safe_dump(found).encode(), account)
        client.print_line(f"Wrote NetworkTopology {name}.")
    for words in left_out:
        client.print_line(f"# Left out: {words}.")


def _apply(name: str, body: bytes, account: Path) -> None:
    """Apply the one object, as the manager of its fields, by the API server of this pod's cluster."""
    path = _RESOURCES.format((account / "namespace").read_text("utf-8").strip(), name)
    server = os.environ.get("KUBERNETES_SERVICE_HOST", "kubernetes.default.svc")
    request = urllib.request.Request(
        f"https://{server}:{os.environ.get('KUBERNETES_SERVICE_PORT', '443')}/{path}?fieldManager=sinemora&force=true",
        body,
        {
            "Content-Type": "application/apply-patch+yaml",
            "Authorization": f"Bearer {(account / 'token').read_text('utf-8').strip()}",
        },
        method="PATCH",
    )
    try:
        trust = ssl.create_default_context(cafile=str(account / "ca.crt"))
        urllib.request.urlopen(request, timeout=_WAIT_S, context=trust).close()
    except HTTPError as error:
        raise CommandError(f"The API server refused: {error.read(500).decode(errors='replace')}") from None
    except OSError as error:
        raise CommandError(f"The API server {server} cannot be reached: {error}") from None
