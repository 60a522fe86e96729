"""Profiles: installations with their keys, in a file that only its user can read.

The file is `$SINEMORA_CONFIG`, else `sinemora/profiles.json` in `$XDG_CONFIG_HOME` (`~/.config`). `sinemora login`
writes it; `Client.from_profile` and every command with `--profile` read it.
"""

import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from sinemora_client.errors import SinemoraError

DEFAULT = "default"
PROFILE = "SINEMORA_PROFILE"
KEY = "SINEMORA_API_KEY"
_KEY_BYTES_MAX = 4096


class ProfileError(SinemoraError):
    """Profile that is missing, or a file of profiles that cannot be used."""


@dataclass(frozen=True)
class Profile:
    """An installation and the key for it; `person`, `tenant` and `expires_at` (RFC 3339) are shown to people."""

    url: str
    key: str
    person: str = ""
    tenant: str = ""
    expires_at: str = ""


@dataclass(frozen=True)
class Profiles:
    """All profiles by name, and the current one."""

    current: str = DEFAULT
    by_name: dict[str, Profile] = field(default_factory=dict)

    def name(self, asked: str | None = None) -> str:
        """Return the name to use: the one asked for, else `$SINEMORA_PROFILE`, else the current one."""
        return asked or os.environ.get(PROFILE) or self.current

    def profile(self, asked: str | None = None) -> Profile:
        """Return a profile by name. Raises `ProfileError` with the names that exist."""
        name = self.name(asked)
        if name not in self.by_name:
            known = f"There are {', '.join(sorted(self.by_name))}." if self.by_name else "There is none yet."
            raise ProfileError(f"Unknown profile: {name}. {known} `sinemora login --profile {name}` creates it.")
        return self.by_name[name]

    def stored(self, name: str, profile: Profile) -> "Profiles":
        """Return these profiles with one added or replaced; it becomes the current one."""
        return Profiles(name, self.by_name | {name: profile})

    def without(self, name: str) -> "Profiles":
        """Return these profiles without one. If it was the current one, the first other one becomes it."""
        left = {key: value for key, value in self.by_name.items() if key != name}
        return Profiles(self.current if self.current in left else next(iter(sorted(left)), DEFAULT), left)

    def used(self, name: str) -> "Profiles":
        """Return these profiles with another current one. Raises `ProfileError`."""
        self.profile(name)
        return replace(self, current=name)


def key_of_environment() -> str:
    """Return the API key in `SINEMORA_API_KEY`, or in the file that `SINEMORA_API_KEY_FILE` names; empty without both.

    Raises `ProfileError` for a file without a usable key, and where both are set.
    """
    key, file = os.environ.get(KEY, ""), os.environ.get(f"{KEY}_FILE", "")
    if not file:
        return key
    if key:
        raise ProfileError(f"{KEY} and {KEY}_FILE are both set; set only one of the two.")
    try:
        with open(file, "rb") as opened:
            content = opened.read(_KEY_BYTES_MAX).decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise ProfileError(f"The API key cannot be read from {file} ({KEY}_FILE): {reason}.") from None
    if not content or len(content.split()) > 1:
        raise ProfileError(f"{file} ({KEY}_FILE) must contain one API key and nothing else.")
    return content


def path() -> Path:
    """Return the path of the file of profiles."""
    if given := os.environ.get("SINEMORA_CONFIG"):
        return Path(given)
    config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(config) / "sinemora" / "profiles.json"


def load() -> Profiles:
    """Return the stored profiles; none without the file. Raises `ProfileError`."""
    file = path()
    try:
        if file.stat().st_mode & 0o077:
            raise ProfileError(f"{file} can be read by others, and it contains keys. Run: chmod 600 {file}")
        document: Any = json.loads(file.read_text("utf-8"))
        by_name = {name: Profile(**fields) for name, fields in document["profiles"].items()}
        return Profiles(str(document["current"]), by_name)
    except FileNotFoundError:
        return Profiles()
    except OSError as error:
        raise ProfileError(f"{file} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ProfileError(f"{file} is no file of profiles. Move it away, then run `sinemora login`.") from error


def save(profiles: Profiles) -> None:
    """Store profiles, readable by their user only; a reader never sees half a file. Raises `ProfileError`."""
    file = path()
    document = {
        "current": profiles.current,
        "profiles": {name: asdict(profile) for name, profile in profiles.by_name.items()},
    }
    part = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
            json.dump(document, out, indent=2)
            out.write("\n")
        part.replace(file)
    except OSError as error:
        raise ProfileError(f"{file} cannot be written: {error.strerror}.") from error
