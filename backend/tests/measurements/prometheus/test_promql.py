"""What is understood of PromQL, and that the rest is said to be not."""

import math
import time

import pytest

from sinemora.measurements.prometheus.promql import NAME, PromQlError, evaluate, parse, selectors

SERIES = [
    ({"mesh": "m", "source": "a", "target": "b"}, 1.0),
    ({"mesh": "m", "source": "a", "target": "c"}, 2.0),
    ({"mesh": "m", "source": "b", "target": "c"}, 6.0),
    ({"mesh": "other", "source": "a", "target": "b"}, 100.0),
]


def fetch(selector):
    collected = {}
    for labels, value in SERIES:
        every = {NAME: "delay", **labels}
        if selector.fits(every):
            collected[tuple(sorted(every.items()))] = value
    return collected


def values(expression):
    result = evaluate(parse(expression), fetch)
    return result if isinstance(result, float) else sorted(result.values())


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 + 1", 2.0),
        ("2 + 3 * 4 - 10 / 4", 11.5),
        ("-(2 - 5) * .5e1", 15.0),
        ('delay{mesh="m"}', [1, 2, 6]),
        ('delay{mesh="m", source!="a"}', [6]),
        ('{__name__="delay",target=~"b|x",mesh!~"o.*"}', [1]),
        ('delay{source=~"a",missing=""}', [1, 2, 100]),
        ("nothing", []),
        ('sum(delay{mesh="m"})', [9]),
        ('avg by (source) (delay{mesh="m"})', [1.5, 6]),
        ('max(delay{mesh="m"}) by (target)', [1, 6]),
        ("count without (target, mesh) (delay)", [1, 3]),
        ('delay{mesh="m"} * 1e3', [1000, 2000, 6000]),
        ('10 - delay{source="b"}', [4]),
        ('delay{mesh="m"} / delay{mesh="m"}', [1, 1, 1]),
        ('delay{mesh="m"} + delay{source="b"}', [12]),
        ('max(delay{mesh="m"}) - min(delay{mesh="m"})', [5]),
    ],
)
def test_expressions(expression, expected):
    assert values(expression) == expected


def test_division_by_zero_is_infinite_or_no_number():
    assert values("1 / 0") == math.inf
    assert values("-1 / 0") == -math.inf
    assert math.isnan(values("0 / 0"))


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("rate(delay)", "function: rate"),
        ("rate(delay[5m])", "unsupported syntax at character 10"),
        ("delay[5m]", "unsupported syntax at character 5"),
        ("delay offset 5m", "unsupported syntax at character 13"),
        ("delay > 1", "unsupported syntax at character 6"),
        ("delay{mesh=}", "unexpected '}' at character 11"),
        ('delay{mesh="m"', "unexpected end"),
        ('delay{mesh=~"("}', "invalid regular expression"),
        ("sum(1)", "takes series"),
        ("(1 + ", "unexpected end"),
        ("", "unexpected end"),
        ("1 2", "unexpected '2'"),
    ],
)
def test_what_is_not_understood_is_said(expression, words):
    with pytest.raises(PromQlError, match=words.replace("(", r"\(").replace("}", r"\}")):
        values(expression)


def test_long_sums_and_deep_parentheses_have_values():
    assert values("+".join(["1"] * 1000)) == 1000.0
    assert values("1 - " + "(" * 99 + "3" + ")" * 99) == -2.0
    assert values("-" * 98 + "4") == 4.0
    assert sum(1 for _ in selectors(parse(" + ".join(["delay"] * 1000)))) == 1000


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("(" * 1_000_000, "1000000 characters, more than 65536"),
        ("(" * 60_000, "more than 100 parts inside one another at character 100"),
        ("-" * 60_000 + "1", "more than 100 parts inside one another at character 100"),
        ("sum(" * 10_000 + "a" + ")" * 10_000, "more than 100 parts inside one another at character 400"),
        ("+".join(["a"] * 10_000), "more than 1000 selectors and numbers, at character 2000"),
        ("a" + " " * 60_000, ""),
    ],
)
def test_what_is_too_long_or_too_deep_is_refused_at_once(expression, words):
    started = time.process_time()
    if words:
        with pytest.raises(PromQlError, match=words):
            parse(expression)
    else:
        parse(expression)
    assert time.process_time() - started < 2
