"""The command `sinemora` without a server: what calls the API. The server has these commands and its own."""

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar

try:
    from typer import Typer
    from typer.core import TyperGroup
    from typer.main import get_command, get_group
except ModuleNotFoundError:
    sys.exit("The command line needs further packages: pip install 'sinemora-client[cli]'")

# The module of each command, whose `app` has a command of this name, and its help.
COMMANDS = {
    "login": ("sinemora_client.commands.login", "Sign in: confirm a code in a browser, on any device."),
    "logout": ("sinemora_client.commands.login", "Delete the key of a profile, at the backend and here."),
    "profiles": ("sinemora_client.commands.login", "List the installations that you are signed in to; choose one."),
    "export": ("sinemora_client.commands.measurements", "Export measurements to a file (API key)."),
    "measure": ("sinemora_client.commands.on_demand", "Measure one pair now and print each second (API key)."),
    "traffic": ("sinemora_client.commands.token_buckets", "Show the traffic of a VM in the last hour (API key)."),
    "token-buckets": (
        "sinemora_client.commands.token_buckets",
        "State the token buckets of VMs; show tokens left and when they will be empty (API key).",
    ),
    "import": ("sinemora_client.commands.measurements", "Import a trace measured elsewhere into a mesh (API key)."),
    "applications": (
        "sinemora_client.commands.applications",
        "Declare applications, read their performance and options (API key).",
    ),
    "plan-followers": (
        "sinemora_client.commands.plan_followers",
        "Show which agents follow the newest plan of a mesh, wait until all do (API key).",
    ),
    "annotate": ("sinemora_client.commands.annotations", "Record a deploy, maintenance or a note (API key)."),
    "recommend": ("sinemora_client.commands.recommendations", "Search for moves worth making on a mesh (API key)."),
    "recommendations": (
        "sinemora_client.commands.recommendations",
        "Show recommendations, decide on them, read outcomes (API key).",
    ),
    "what-if": (
        "sinemora_client.commands.what_if",
        "Evaluate changes for all applications; manage scenarios (API key).",
    ),
    "incidents": ("sinemora_client.commands.incidents", "List, acknowledge and resolve incidents (API key)."),
    "rules": ("sinemora_client.commands.rules", "Manage alert rules (API key)."),
    "silences": ("sinemora_client.commands.silences", "Manage silences of notifications (API key)."),
    "receivers": ("sinemora_client.commands.receivers", "Manage receivers of notifications (API key)."),
    "alert-routes": ("sinemora_client.commands.receivers", "Manage the routing tree (API key)."),
}


class Commands(TyperGroup):
    """A group that lists all commands and imports the one that runs."""

    imported: ClassVar[Mapping[str, tuple[str, str]]] = COMMANDS

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command of these words, from its own module."""
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and name in self.imported:
            command = get_group(import_module(self.imported[name][0]).app).commands[name]
        return name, command, rest


def listing(group: type[Commands], words: str) -> Typer:
    """Return an application that lists the commands of a group; `words` are its help."""
    options = {"help_option_names": ["-h", "--help"], "max_content_width": 120}
    app = Typer(cls=group, help=words, rich_markup_mode=None, context_settings=options)
    for name, (_, of_command) in group.imported.items():
        app.command(name, help=of_command)(lambda: None)
    return app


def main() -> None:
    """Run one command; exit with 0 when it succeeded, 1 when it failed, 2 when it was not understood."""
    get_command(listing(Commands, "Call the API of a Sinemora installation."))(prog_name="sinemora")
