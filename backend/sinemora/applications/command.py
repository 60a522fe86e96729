"""`sinemora applications`: declare applications and read their performance over the API."""

import argparse
import sys
from pathlib import Path
from typing import Any

from sinemora.kit.client import Client
from sinemora.kit.commands import add_command, add_group, bytes_of, percent, print_line, print_result, signed_percent


def add(commands: Any) -> None:
    """Add the commands."""
    applications = add_group(commands, "applications", "declare applications, read their performance and options")
    add_command(applications, "list", "list all applications", _list_applications)
    for name, about, action in (
        ("performance", "show the current performance, link by link", _performance),
        ("options", "show role swaps, re-created VMs and additional VMs", _options),
        ("delete", "delete an application; its VMs stay", _delete_application),
    ):
        add_command(applications, name, about, action).add_argument("name", help="name or id")
    add_command(applications, "export", "export all applications as YAML", _export).add_argument(
        "--output", type=Path, help="file to write (default: standard output)"
    )
    add_command(applications, "import", "create or update applications from a YAML file", _import).add_argument(
        "file", type=Path
    )


def _list_applications(client: Client, options: argparse.Namespace) -> None:
    applications = list(client.items("/v1/applications"))
    rows = [
        (
            application["name"],
            application["mesh"]["name"],
            application["shape"],
            len(application["tasks"]),
            application["curve"]["name"],
        )
        for application in applications
    ]
    print_result(options, applications, ("application", "mesh", "shape", "tasks", "curve"), rows)


def _performance(client: Client, options: argparse.Namespace) -> None:
    performance = client.get(f"/v1/applications/{_application(client, options.name)['id']}/performance")
    rows = [(link["source"], link["target"], _us(link["round_trip_ns"]), percent(link["performance"]), link["state"])
            for link in performance["detail"]]  # fmt: skip
    below = ", below its objective" if performance["below_objective"] else ""
    print_line(options, f"{performance['name']}: {percent(performance['performance'])}{below}")
    print_result(options, performance, ("from", "to", "round trip", "performance", "state"), rows)


def _options(client: Client, options: argparse.Namespace) -> None:
    answer = client.get(f"/v1/applications/{_application(client, options.name)['id']}/options")
    rows = [
        (signed_percent(option["gain"]["gain"]["mean"]), percent(option["gain"]["after"]["mean"]), option["words"])
        for option in answer["options"]
    ]
    print_result(options, answer, ("change", "then", "option"), rows)


def _delete_application(client: Client, options: argparse.Namespace) -> None:
    client.read(f"/v1/applications/{_application(client, options.name)['id']}", method="DELETE")


def _export(client: Client, options: argparse.Namespace) -> None:
    with client.open("/v1/applications/manifest") as answer:
        text = answer.read()
    if options.output:
        options.output.write_bytes(text)
    else:
        sys.stdout.write(text.decode())


def _import(client: Client, options: argparse.Namespace) -> None:
    changes = client.read("/v1/applications/manifest", bytes_of(options.file), media_type="application/yaml")
    print_result(
        options,
        changes,
        ("change", "applications"),
        [(kind, ", ".join(names) or "-") for kind, names in changes.items()],
    )


def _application(client: Client, name: str) -> Any:
    return client.named("/v1/applications", name, "application")


def _us(value: int | None) -> str:
    return "-" if value is None else f"{value / 1e3:.0f} µs"
