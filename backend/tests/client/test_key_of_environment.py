"""The API key in the environment, or in a file that the environment names."""

from pathlib import Path

import pytest

from sinemora_client.profiles import KEY, ProfileError, key_of_environment


def test_a_key_is_the_variable_or_the_content_of_its_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.delenv(KEY, raising=False)
    assert key_of_environment() == ""
    (tmp_path / "key").write_text("sm_in_a_file\n")
    monkeypatch.setenv(f"{KEY}_FILE", str(tmp_path / "key"))
    assert key_of_environment() == "sm_in_a_file"
    monkeypatch.setenv(KEY, "sm_in_the_environment")
    with pytest.raises(ProfileError, match="set only one"):
        key_of_environment()
    monkeypatch.delenv(f"{KEY}_FILE")
    assert key_of_environment() == "sm_in_the_environment"


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "cannot be read"), (b"", "one API key"), (b"sm_a\nsm_b\n", "one API key"), (b"\xff\xfe", "not text")],
)
def test_a_file_without_a_key_is_refused_by_name(
    content: bytes | None, words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    file = tmp_path / "key"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.delenv(KEY, raising=False)
    monkeypatch.setenv(f"{KEY}_FILE", str(file))
    with pytest.raises(ProfileError, match=words) as refused:
        key_of_environment()
    assert str(file) in str(refused.value)
