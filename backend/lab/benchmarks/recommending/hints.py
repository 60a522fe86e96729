"""Hints of answers that leave tasks waiting: each is applied to the tenant, and brute force says whether it helps."""

import re
from dataclasses import replace

import numpy as np

from lab.benchmarks.recommending.tenants import Star, Tenant
from lab.benchmarks.recommending.truth import all_placements, owners, reachable

_APPLICATION = re.compile(r"application-(\d+)")


def false_hints(tenant: Tenant, words: str) -> list[str]:
    """Return the hints in the reason for unplaced tasks that do not make room as they say."""
    if (each := re.search(r"no single limit makes room for all: (.*?)\.?$", words)) is not None:
        pairs = [part.removeprefix("for ").split(", ", 1) for part in each[1].split("; ")]
        hints = [(hint, [_number(name)]) for name, of_name in pairs for hint in of_name.split(" or ")]
        return [hint for hint, places in hints if not _helps(tenant, hint, places)]
    if (fix := re.search(r"; to fix: (.*?)\.?$", words)) is not None:
        everybody = list(range(len(tenant.applications)))
        return [hint for hint in fix[1].split(" or ") if not _helps(tenant, hint, everybody)]
    return []


def _number(name: str) -> int:
    found = _APPLICATION.search(name)
    assert found is not None, name
    return int(found[1])


def _helps(tenant: Tenant, hint: str, places: list[int]) -> bool:
    """Return whether all tasks of applications `places` can run once a hint is followed."""
    relaxed = _followed(tenant, hint)
    found = all_placements(relaxed)
    mine = np.isin(owners(relaxed), places)
    return any(reachable(relaxed, at) for at in found[(found[:, mine] >= 0).all(axis=1)])


def _followed(tenant: Tenant, hint: str) -> Tenant:
    places = [int(number) for number in _APPLICATION.findall(hint)]
    if hint.startswith("allow more than") or hint.startswith("allow moves"):
        return replace(tenant, moves_max=99)
    if hint.startswith("give"):
        return replace(tenant, millicores=[None] * len(tenant.slots))
    if (slots := re.fullmatch(r"add (\d+) slots? to \S*?(\d+)", hint)) is not None:
        more = [count + int(slots[1]) * (vm == int(slots[2])) for vm, count in enumerate(tenant.slots)]
        return replace(tenant, slots=more)
    kinds: dict[str, dict[str, object]] = {
        r"allow .* more zones": {"zones": ()},
        r"unpin tasks of .*": {"pinned": None},
        r"let .* in one (VM|zone)": {"spread": (None, None)},
        r"let .* share VMs": {"apart_from": None},
        r"let .* move for others": {"moves_for_others": True},
    }
    change = next(change for pattern, change in kinds.items() if re.fullmatch(pattern, hint))
    return replace(
        tenant,
        applications=[
            _with(application, change) if place in places else application
            for place, application in enumerate(tenant.applications)
        ],
    )


def _with(application: Star, change: dict[str, object]) -> Star:
    if "pinned" in change:
        return replace(application, pinned=[False] * len(application.at))
    return replace(application, **change)  # type: ignore[arg-type]
