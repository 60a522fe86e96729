"""The few settings the toolchain itself looks at, from the environment or `.env`."""

import os

from common import ROOT


def setting(name: str, default: str) -> str:
    """`SINEMORA_<name>` from the environment, else from `.env`, else `default`."""
    key = f"SINEMORA_{name}"
    if key in os.environ:
        return os.environ[key]
    try:
        lines = (ROOT / ".env").read_text("utf-8").splitlines()
    except OSError:
        return default
    found = [line.split("=", 1)[1] for line in lines if line.strip().removeprefix("export ").startswith(f"{key}=")]
    return found[-1].strip().strip("\"'") if found else default


def demo_agents() -> int:
    """Return the number of demonstration agents; an unreadable number is left for the backend to complain about."""
    value = setting("DEMO_AGENTS", "6")
    return int(value) if value.isdecimal() else 6
