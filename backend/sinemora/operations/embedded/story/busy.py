"""How busy the machine of the demonstration is: its packets are real, so a busy machine delays them."""

from pathlib import Path

_PRESSURE = Path("/proc/pressure/cpu")


def waiting_percent(file: Path = _PRESSURE) -> float | None:
    """Return the share of the last minute in which some program waited for a processor, percent.

    None where the kernel does not tell (Linux, Documentation/accounting/psi.rst).
    """
    try:
        text = file.read_text()
    except OSError:
        return None
    some = next((line for line in text.splitlines() if line.startswith("some ")), "")
    fields = dict(field.split("=", 1) for field in some.split()[1:] if "=" in field)
    try:
        return float(fields["avg60"])
    except (KeyError, ValueError):
        return None
