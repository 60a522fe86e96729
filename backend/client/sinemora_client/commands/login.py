"""`sinemora login`, `logout` and `profiles`: sign in from a terminal, keep keys of several installations."""

import json
import os
import socket
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from typer import Argument, Context, Exit, Option, Typer

from sinemora_client import ApiError, Client, NotSignedIn, Retries, SinemoraError, profiles
from sinemora_client.commands import AsJson, ProfileName, profile_names, public_url, table
from sinemora_client.device_login import begin, wait_for_key
from sinemora_client.profiles import Profile, Profiles

app = Typer(rich_markup_mode=None)
of_profiles = Typer(rich_markup_mode=None, invoke_without_command=True)
app.add_typer(of_profiles, name="profiles", help="List the installations that you are signed in to; choose one.")


@contextmanager
def _explained() -> Iterator[None]:
    """Print an error and exit with 1; 130 for Ctrl-C."""
    try:
        yield
    except SinemoraError as error:
        print(error, file=sys.stderr)
        raise Exit(1) from None
    except KeyboardInterrupt:
        print("\nNot signed in: interrupted.", file=sys.stderr)
        raise Exit(130) from None


@app.command()
@_explained()
def login(
    url: Annotated[
        str | None, Option(help="Address of the backend.", show_default="of the profile, else SINEMORA_PUBLIC_URL")
    ] = None,
    profile: ProfileName = None,
    read_only: Annotated[bool, Option("--read-only", help="Ask for a key that only reads.")] = False,
    device: Annotated[
        str | None, Option(help="Name of this device, for the person who confirms.", show_default="that of the host")
    ] = None,
    no_browser: Annotated[bool, Option("--no-browser", help="Only print the address.")] = False,
    as_json: AsJson = False,
) -> None:
    """Sign in: confirm a code in a browser, on any device. The key is kept in a profile."""
    stored = profiles.load()
    name = stored.name(profile)
    before = stored.by_name.get(name)
    address = url or (before.url if before else public_url())
    pending = begin(address, (device or f"sinemora on {socket.gethostname()}")[:60], "read" if read_only else "write")
    print(f"Open {pending.verification_uri_complete}", file=sys.stderr)
    print(f"and confirm the code {pending.user_code} within {pending.expires_in_s // 60} minutes.", file=sys.stderr)
    if not no_browser and _has_browser():
        webbrowser.open(pending.verification_uri_complete)
    entry = wait_for_key(address, pending)
    profiles.save(profiles.load().stored(name, entry))
    if before is not None:
        _end(before)
    if as_json:
        print(json.dumps(_public(name, entry, current=True), indent=2, ensure_ascii=False))
    else:
        print(f"Signed in as {entry.person} to {entry.tenant}, profile {name}, until {entry.expires_at[:10]}.")


@app.command()
@_explained()
def logout(profile: ProfileName = None, as_json: AsJson = False) -> None:
    """Delete the key of a profile, at the backend and here."""
    stored = profiles.load()
    name = stored.name(profile)
    entry = stored.profile(profile)
    is_ended = _end(entry)
    profiles.save(stored.without(name))
    if not is_ended:
        print(
            f"{entry.url} did not delete the key: delete it on the page API keys, or it stays valid until"
            f" {entry.expires_at[:10]}.",
            file=sys.stderr,
        )
    if as_json:
        print(json.dumps({"profile": name, "key_deleted": is_ended}))
    else:
        print(f"Signed out of {entry.url}, profile {name}.")


@of_profiles.callback()
@_explained()
def show(context: Context, as_json: AsJson = False) -> None:
    """List the installations that you are signed in to; choose one."""
    if context.invoked_subcommand is not None:
        return
    stored = profiles.load()
    rows = [_public(name, entry, current=name == stored.name()) for name, entry in sorted(stored.by_name.items())]
    if as_json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
    elif not rows:
        print("No profiles yet: `sinemora login --url https://…` creates one.", file=sys.stderr)
    else:
        heads = ("", "profile", "address", "person", "tenant", "key until")
        cells = [
            ("*" if row["current"] else "", *(str(row[key]) for key in ("profile", "url", "person", "tenant")),
             str(row["expires_at"])[:10])
            for row in rows
        ]  # fmt: skip
        print(table(heads, cells))


@of_profiles.command()
@_explained()
def use(
    name: Annotated[str, Argument(help="Name of the profile.", autocompletion=profile_names)], as_json: AsJson = False
) -> None:
    """Make a profile the current one."""
    chosen: Profiles = profiles.load().used(name)
    profiles.save(chosen)
    entry = chosen.by_name[name]
    if as_json:
        print(json.dumps(_public(name, entry, current=True), indent=2, ensure_ascii=False))
    else:
        print(f"{name}: {entry.url}, as {entry.person or 'an API key'}")


def _public(name: str, entry: Profile, *, current: bool) -> dict[str, str | bool]:
    """Return a profile without its key."""
    return {
        "profile": name,
        "current": current,
        "url": entry.url,
        "person": entry.person,
        "tenant": entry.tenant,
        "expires_at": entry.expires_at,
    }


def _end(entry: Profile) -> bool:
    """Delete the key of a profile at its installation. Return whether it is invalid now."""
    try:
        with Client(entry.url, entry.key, timeout_s=10.0, retries=Retries(attempts=1)) as client:
            client.delete_own_api_key()
    except NotSignedIn:
        return True  # it had expired, or somebody has deleted it
    except (ApiError, SinemoraError):
        return False
    return True


def _has_browser() -> bool:
    """Return whether a browser may open here: not over SSH, not without a screen."""
    if "SSH_CONNECTION" in os.environ or not sys.stderr.isatty():
        return False
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
