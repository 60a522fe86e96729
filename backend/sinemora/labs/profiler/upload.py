"""Upload a finished profile to a Sinemora server."""

from typing import Any

from sinemora.labs.profiler.profile import Profile
from sinemora.labs.profiler.results import source, steady
from sinemora_client import Client


def upload(profile: Profile, url: str, key: str, name: str, curve_id: str | None) -> str:
    """Create a curve from the profile, or the next version of curve `curve_id`; return the address of its page.

    Raises `SinemoraError` with the server's message.
    """
    body: dict[str, Any] = {
        "metric": profile.recipe.metric,
        "source": "\n".join(source(profile)),
        "rows": [{"latency_us": run.added_us, "performance": run.value} for run in steady(profile)],
    }
    if curve_id is None:
        body |= {"name": name, "unit": profile.recipe.unit, "description": f"sinemora profile, load {profile.load}"}
    path = "/v1/curves" if curve_id is None else f"/v1/curves/{curve_id}/versions"
    with Client(url, key) as client:
        return f"{client.url}/curves/{client.request('POST', path, body=body).json()['id']}"
