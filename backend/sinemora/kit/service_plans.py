"""Service plans: names that the operator gives to sets of quotas, as `SINEMORA_SERVICE_PLANS` has them."""

import re
from functools import lru_cache

QUOTAS = ("vms", "paths", "windows_per_s", "raw_days", "minute_days", "artifact_mib", "aged_after_days")
"""Quotas that a plan may set; the settings of the installation hold for the others."""

_LEAST = {"raw_days": 1, "minute_days": 1}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,58}")
_EXAMPLE = "Trial: vms=20 raw_days=1; Team: vms=500"

Plans = dict[str, dict[str, float]]


@lru_cache(maxsize=8)
def parse(text: str) -> Plans:
    """Return the quotas of each plan of a text such as `Trial: vms=20 raw_days=1; Team: vms=500`.

    ValueError names the plan and what is wrong with it.
    """
    plans: Plans = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        name, colon, assignments = part.partition(":")
        name = name.strip()
        if not colon or not _NAME.fullmatch(name) or name == "default":
            raise ValueError(f"should have plans like {_EXAMPLE}, not {part!r}")
        if name in plans:
            raise ValueError(f"has the plan {name} twice")
        plans[name] = dict(_quota(name, one) for one in assignments.split())
    return plans


def _quota(plan: str, assignment: str) -> tuple[str, float]:
    quota, equals, number = assignment.partition("=")
    if not equals or quota not in QUOTAS:
        raise ValueError(f"has {assignment!r} in the plan {plan}; a plan sets {', '.join(QUOTAS)}, as in vms=20")
    least = _LEAST.get(quota, 0)
    try:
        value = float(number) if quota == "windows_per_s" else int(number)
    except ValueError:
        value = -1
    if not least <= value < 1 << 31:
        raise ValueError(f"has {assignment!r} in the plan {plan}; {quota} is a number from {least}")
    return quota, value
