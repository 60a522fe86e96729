"""Passwords that others guess first are refused, whatever characters they have."""

import pytest

from sinemora.kit.password_rules import weakness

WORDS = ["ana.diaz@noc.example", "Northwind Telecom"]


@pytest.mark.parametrize(
    ("password", "reason"),
    [
        ("x7#kQ9p!a", "Too short"),
        ("x" * 1025, "Too long"),
        ("aaaaaaaaaa", "a repeat, a sequence or a row of keys"),
        ("1234567890", "breaches"),
        ("Password123!", "breaches"),
        ("qwertyuiop", "breaches"),
        ("P@ssw0rd2026", "breaches"),
        ("sunshine123", "breaches"),
        ("Sinemora2026", "your address"),
        ("northwind-telecom", "your address"),
        ("ana.diaz@noc.example", "your address"),
        ("ana.diaz2026", "your address"),
    ],
)
def test_refuses_what_is_guessed_first(password: str, reason: str):
    assert reason in (weakness(password, WORDS) or "")


@pytest.mark.parametrize(
    "password",
    [
        "correct horse battery",
        "x7#kQ9p!ab",
        "kleiner grüner kaktus",
        "пароль из семи слов",
        "7-orbit-lamp-crane",
        "żółw mknie",
    ],
)
def test_takes_long_and_unusual_ones_without_rules_of_composition(password: str):
    assert weakness(password, WORDS) is None


def test_a_very_long_password_is_scored_quickly_and_taken():
    assert weakness("k7tq2mzd x4pw hn3f " * 50, WORDS) is None
