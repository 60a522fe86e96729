"""Handing a finished profile to a Sinemora server."""

import json
import urllib.error
import urllib.request
import uuid
from typing import Any

from sinemora.recommender.profiler.profile import Profile
from sinemora.recommender.profiler.recipes import ProfileError
from sinemora.recommender.profiler.results import source


def upload(profile: Profile, url: str, key: str, name: str, curve_id: str | None) -> str:
    """Make a curve of the profile, or the next version of curve `curve_id`; the address of its page.

    Raises `ProfileError` with what the server says.
    """
    swept = [run for run in profile.runs if run.phase == "sweep"]
    body: dict[str, Any] = {
        "metric": profile.recipe.metric,
        "source": "\n".join(source(profile)),
        "rows": [{"latency_us": run.added_us, "performance": run.value} for run in swept],
    }
    if curve_id is None:
        body |= {"name": name, "unit": profile.recipe.unit, "description": f"sinemora profile, load {profile.load}"}
    path = "/v1/curves" if curve_id is None else f"/v1/curves/{curve_id}/versions"
    base = url.rstrip("/")
    request = urllib.request.Request(
        base + path,
        json.dumps(body).encode(),
        {
            "Authorization": f"Bearer {key}",
            "Content-Type": "application/json",
            "Idempotency-Key": str(uuid.uuid4()),
        },
    )
    if request.type not in ("http", "https"):
        raise ProfileError(f"{url} is no address of a server; it begins with https://")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            made = json.load(answer)
    except urllib.error.HTTPError as error:
        raise ProfileError(f"{url} refuses the curve: {_detail(error)}") from None
    except (OSError, ValueError) as error:
        raise ProfileError(f"{url} cannot be reached: {getattr(error, 'reason', error)}") from None
    return f"{base}/curves/{made['id']}"


def _detail(error: urllib.error.HTTPError) -> str:
    try:
        problem = json.load(error)
        return str(problem.get("detail") or problem.get("title"))
    except ValueError:
        return f"{error.code} {error.reason}"
