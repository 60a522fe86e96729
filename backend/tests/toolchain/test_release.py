"""A release is whole and agrees with its checksums and its signature, or says what is wrong."""

import subprocess
from pathlib import Path

import build
import pytest
import release

VERSION = "1.2.3"
# As the tools that build them name them.
NAMES = [
    *(f"sinemora-{VERSION}-cp311-abi3-manylinux_2_28_{machine}.whl" for machine in ("x86_64", "aarch64")),
    *(
        f"sinemora-agent-{VERSION}-{machine}{ending}"
        for machine in ("x86_64", "aarch64")
        for ending in ("", ".deb", ".rpm", ".tar.gz")
    ),
    *(f"sinemora_client-{VERSION}-py3-none-any.whl", f"sinemora-client-{VERSION}.tgz", f"sinemora-{VERSION}.tgz"),
    *(f"sinemora-agent-{VERSION}.tgz", f"sinemora-source-{VERSION}.tar.gz", "NOTES.md"),
    *("sinemora-backend.cdx.json", "sinemora-frontend.cdx.json", "sinemora-agent.cdx.json"),
]


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "key.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", path], check=True)
    monkeypatch.setenv("SINEMORA_SIGNING_KEY", str(path))
    return path


@pytest.fixture
def folder(key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A release with every part, signed."""
    folder = tmp_path / "release"
    folder.mkdir()
    monkeypatch.setattr(build, "version", lambda: VERSION)
    for name in NAMES:
        (folder / name).write_text(f"content of {name}")
    build.offer(folder)
    build.sign(folder / "SHA256SUMS")
    return folder


def test_a_whole_release_has_no_fault(folder: Path) -> None:
    assert list(release.faults_of(folder, VERSION)) == []
    script = (folder / "install.sh").read_text()
    assert f"sinemora-agent-{VERSION}-aarch64.tar.gz" in script


def test_what_is_wrong_is_named(folder: Path) -> None:
    (folder / f"sinemora-agent-{VERSION}-x86_64.rpm").write_text("another")
    (folder / f"sinemora-source-{VERSION}.tar.gz").unlink()
    (folder / "left-over.bin").write_text("")
    assert list(release.faults_of(folder, VERSION)) == [
        f"missing: sinemora-source-{VERSION}.tar.gz",
        f"not as in SHA256SUMS: sinemora-agent-{VERSION}-x86_64.rpm",
        f"not as in SHA256SUMS: sinemora-source-{VERSION}.tar.gz",
        "without a checksum: left-over.bin",
    ]


def test_a_signature_of_other_checksums_is_found(folder: Path) -> None:
    (folder / "NOTES.md").write_text("changed")
    build.offer(folder)
    assert list(release.faults_of(folder, VERSION)) == ["not the signature of SHA256SUMS: SHA256SUMS.sig"]


@pytest.mark.parametrize("content", [None, "no key", "rsa"])
def test_a_key_that_cannot_sign_is_refused_before_anything_is_built(key: Path, content: str | None) -> None:
    key.unlink()
    if content == "rsa":
        subprocess.run(["openssl", "genpkey", "-quiet", "-algorithm", "rsa", "-out", key], check=False)
    if content and not key.exists():
        key.write_text(content)
    with pytest.raises(SystemExit, match=r"names no Ed25519 key: .*\nWhat to do: openssl genpkey"):
        build.check_key()


def test_the_release_before_stays_until_the_new_one_is_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release, "RELEASE", folder)
    monkeypatch.setattr(release, "PART", folder / ".part")
    (folder / ".part").mkdir()
    (folder / ".part" / "NOTES.md").write_text("new")
    release.replace()
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"NOTES.md": "new"}
