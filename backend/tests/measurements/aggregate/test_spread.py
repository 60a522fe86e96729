"""Among many bad paths, each cause is listed once before any is listed twice."""

import numpy as np

from sinemora.measurements.aggregate.spread import spread

ZONE_OF = np.repeat(np.arange(4), 5)


def mesh() -> np.ndarray:
    """Return severities of 20 VMs in four zones: a sick VM, a slow pair of zones and one bad path."""
    severity = np.zeros((20, 20))
    severity[np.ix_(ZONE_OF == 1, ZONE_OF == 2)] = np.arange(25).reshape(5, 5) + 50
    severity[3, :] = severity[:, 3] = 300 + np.arange(20)
    severity[3, 3] = 0
    severity[12, 17] = 2
    return severity


def test_without_zones_the_worst_come_first() -> None:
    severity = mesh()
    places = [*spread(severity, 40)]
    values = [severity[place] for place in places]
    assert values == sorted(severity[severity > 0], reverse=True)[:40]


def test_each_cause_comes_once_before_its_other_paths() -> None:
    severity = mesh()
    found = spread(severity, 30, ZONE_OF)
    places = [*found]
    assert places[:3] == [(3, 19), (9, 14), (12, 17)]
    rest = [severity[place] for place in places[3:]]
    assert rest == sorted(rest, reverse=True)
    assert len(places) == 30
    # The sick VM has 38 paths; the pair of zones has 25, none of them to it.
    assert [found[place] for place in places[:4]] == [37, 24, 0, 0]
    assert [*spread(severity, 30, ZONE_OF, once=True)] == places[:3]


def test_fewer_bad_paths_than_wanted() -> None:
    severity = mesh()
    assert len(spread(severity, 500, ZONE_OF)) == int((severity > 0).sum())
    assert spread(np.zeros((3, 3)), 5, np.zeros(3, int)) == {}
    assert spread(np.zeros((0, 0)), 5, np.zeros(0, int)) == {}


def test_a_lossy_path_between_the_zones_of_a_dead_vm_is_chosen() -> None:
    severity = np.zeros((20, 20))
    severity[:, 8] = 1 - np.eye(20)[8]
    severity[2, 6] = 0.4
    assert spread(severity, 2, ZONE_OF) == {(0, 8): 18, (2, 6): 0}
