from typing import Any

import pytest

from sinemora.alerts.receivers import routing

LABELS = {"severity": ["critical"], "zone": ["a", "b"], "rule": ["Loss on a path"]}


@pytest.mark.parametrize(
    ("tree", "receivers"),
    [
        ({"receivers": ["all"]}, ["all"]),
        ({"receivers": ["all"], "routes": [{"matchers": [("severity", "critical")], "receivers": ["page"]}]}, ["page"]),
        ({"receivers": ["all"], "routes": [{"matchers": [("severity", "info")], "receivers": ["page"]}]}, ["all"]),
        (
            {
                "routes": [
                    {"matchers": [("zone", "b")], "receivers": ["b"], "continue_": True},
                    {"matchers": [("rule", "Loss*")], "receivers": ["loss"]},
                    {"receivers": ["never"]},
                ]
            },
            ["b", "loss"],
        ),
        ({"matchers": [("zone", "c")], "receivers": ["all"]}, []),
        ({"routes": [{"routes": [{"receivers": ["deep"]}], "receivers": ["shallow"]}]}, ["deep"]),
    ],
)
def test_an_incident_goes_to_the_deepest_branches_that_match(tree: dict[str, Any], receivers: list[str]):
    def whole(route: dict[str, Any]) -> dict[str, Any]:
        matchers = [{"label": label, "value": value} for label, value in route.get("matchers", ())]
        return {**route, "matchers": matchers, "routes": [whole(one) for one in route.get("routes", ())]}

    assert [one.receiver for one in routing.destinations(whole(tree), LABELS)] == receivers
