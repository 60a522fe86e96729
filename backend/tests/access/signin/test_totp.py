"""Codes of authenticator apps: test vectors of RFC 6238, and each code once."""

from xml.etree import ElementTree

import pytest

from sinemora.access.signin import recovery, totp

SECRET = b"12345678901234567890"  # RFC 6238, appendix B


@pytest.mark.parametrize(
    ("at_s", "code"),
    [
        (59, "94287082"),
        (1111111109, "07081804"),
        (1111111111, "14050471"),
        (1234567890, "89005924"),
        (2000000000, "69279037"),
        (20000000000, "65353130"),
    ],
)
def test_codes_are_those_of_rfc_6238(at_s: int, code: str):
    assert totp.code_at(SECRET, at_s // 30) == code[-6:]


@pytest.mark.parametrize(("late_s", "accepted"), [(-60, False), (-30, True), (0, True), (30, True), (60, False)])
def test_a_code_is_accepted_one_step_early_or_late(late_s: int, accepted: bool):
    step = 1111111111 // 30
    result = totp.accepted_step(SECRET, totp.code_at(SECRET, step), 1111111111 + late_s, None)
    assert (result == step) if accepted else (result is None)


@pytest.mark.parametrize("code", ["", "000000", "abcdef", "\u0660" * 6, "0" * 40])
def test_wrong_codes_are_refused(code: str):
    assert totp.accepted_step(SECRET, code, 59, None) is None


def test_the_uri_names_account_and_issuer():
    uri = totp.uri(SECRET, "ana@noc.example", "Sinemora")
    assert uri == ("otpauth://totp/Sinemora:ana%40noc.example?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Sinemora")


def test_the_qr_code_is_an_svg_without_script():
    root = ElementTree.fromstring(totp.qr_code(totp.uri(SECRET, "<script>@x", "Sinemora")))
    assert root.tag.endswith("svg")
    assert {element.tag.rpartition("}")[2] for element in root.iter()} <= {"svg", "path", "g"}


def test_recovery_codes_have_80_random_bits_and_take_any_spelling():
    from uuid import uuid4

    user, codes = uuid4(), recovery.new_codes()
    assert len(set(codes)) == 10
    assert all(recovery.looks_like_one(code) for code in codes)
    assert not recovery.looks_like_one("123456")
    spelled = codes[0].upper().replace("-", " ")
    assert recovery.digest(user, spelled) == recovery.digest(user, codes[0])
    assert recovery.digest(uuid4(), codes[0]) != recovery.digest(user, codes[0])
