import time
from datetime import datetime
from uuid import uuid4

from tests.alerts.conftest import Watched, egress


def test_a_preview_shows_values_limits_and_firing_of_a_path(watched: Watched):
    start = watched.started_at_s = int(time.time()) // 10 * 10 - 200
    for slow in ({}, egress(watched, 3), egress(watched, 3), egress(watched, 3), {}):
        watched.report(slow=slow)
    result = watched.preview(3, 0, {"kind": "threshold", "above": 1_000_000}, keep_firing_s=0)
    at = {datetime.fromisoformat(one).timestamp(): number for number, one in enumerate(result["points_at"])}
    first = at[start]
    assert result["firing"][first : first + 5] == [False, False, True, True, True]
    assert [round(one / 1e6) for one in result["values"][first : first + 5]] == [0, 5, 5, 5, 0]
    assert result["values"][first - 1] is None
    assert set(result["limits"]) == {1_000_000}
    assert result["notes"] == []
    for condition in ({"kind": "silent"}, {"kind": "tokens", "within_s": 60}):
        assert watched.preview(3, 0, condition, keep_firing_s=0)["code"] == "preview_unsupported"
    unknown = watched.preview(3, 0, {"kind": "spike", "rise_ns": 1}, keep_firing_s=0, target_id=str(uuid4()))
    assert unknown["code"] == "path_unknown"
