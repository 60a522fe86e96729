"""The story of the demonstration: its chapters, the work that is measured, and what the console reads of it."""

import asyncio
import json
import urllib.request
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sinemora.operations.embedded.data_folder import DataFolder
from sinemora.operations.embedded.demo import machines as demo
from sinemora.operations.embedded.demo.stage import Stage
from sinemora.operations.embedded.story import chapters, scene
from sinemora.operations.embedded.story.busy import waiting_percent
from sinemora.operations.embedded.story.hook import Hook
from sinemora.operations.embedded.story.work import Work
from sinemora.overview.demonstration import service
from sinemora.overview.demonstration.schemas import Chapter, Demonstration
from tests.api_clients import Member, MeshWorld, limited_key


@pytest.mark.parametrize(("elapsed_s", "number"), [(0, 0), (119, 0), (120, 1), (899, 5), (900, 6), (1020, 7)])
def test_a_chapter_is_played_at_its_time_and_again_in_the_next_turn(elapsed_s: float, number: int) -> None:
    assert chapters.chapter_at(elapsed_s) == (number, chapters.CHAPTERS[number % len(chapters.CHAPTERS)])


@pytest.mark.parametrize(("elapsed_s", "next_s"), [(0, 120), (120, 210), (700, 900), (900, 1020)])
def test_the_next_chapter_starts_when_this_one_ends(elapsed_s: float, next_s: float) -> None:
    assert chapters.next_start_s(elapsed_s) == next_s


def test_an_incident_and_a_recommendation_are_due_within_five_minutes() -> None:
    early = [chapter for chapter in chapters.CHAPTERS if chapter.at_s <= 240]
    assert any("add=" in change for chapter in early[1:] for change in chapter.changes)
    assert any(chapter.asks_for_moves for chapter in early)


def test_the_applications_need_the_machines_that_the_story_asks_for() -> None:
    assert {name for link in scene.LINKS for name in link[1:]} == chapters.MACHINES


def test_the_stage_is_read_as_it_was_written(tmp_path: Path) -> None:
    stage = Stage(demo.machines(3, DataFolder(tmp_path), "127.20.9", 20319), Path("/bin/delaybox"), Path("/r.toml"))
    stage.write(tmp_path / "stage.json")
    assert Stage.read(tmp_path / "stage.json") == stage


def test_the_rate_is_that_of_answered_requests(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    (tmp_path / "demo").mkdir()
    port = demo.free_event_port(2, folder, "127.20.9")
    # Nothing relays packets here: the second machine is reached at its own address, the first one not at all.
    first, second = demo.machines(2, folder, "127.20.9", port)
    second = demo.Machine(second.name, second.zone, second.address, second.address, port, second.state_dir)

    async def measured() -> tuple[float | None, float | None]:
        work = Work([first, second])
        await work.open()
        tasks = [
            asyncio.create_task(work.run("near", first.name, second.name)),
            asyncio.create_task(work.run("lost", second.name, first.name)),
        ]
        await asyncio.sleep(1.2)
        for task in tasks:
            task.cancel()
        return work.rate_per_s("near"), work.rate_per_s("lost")

    near, lost = asyncio.run(measured())
    assert near is not None
    assert near > 50
    assert lost == 0


def test_the_hook_keeps_the_newest_notification() -> None:
    hook = Hook()
    try:
        for body, title in (
            ({"title": "a → b is slow"}, "a → b is slow"),
            ({"title": "a → b recovered"}, "a → b recovered"),
            (["?"], "a notification in another form"),
        ):
            request = urllib.request.Request(hook.url, json.dumps(body).encode(), method="POST")
            with urllib.request.urlopen(request, timeout=5) as answer:
                assert answer.status == 204
            assert hook.newest is not None
            assert hook.newest.title == title
    finally:
        hook.close()


def test_who_sees_the_mesh_of_the_demonstration_reads_what_is_played(
    owner: Member, other_owner: Member, make_mesh: Callable[..., MeshWorld]
) -> None:
    played, other = make_mesh(owner, 0, name="demo"), make_mesh(owner, 0, name="staging")
    now = datetime.now(UTC)
    chapter = Chapter(title="Loss", text="VM c-2 loses packets.", started_at=now, ends_at=now + timedelta(seconds=60))
    service.publish(owner.tenant_id, played.id, Demonstration(chapter=chapter, observed=None, notified=None))
    shown = owner.get("/v1/demonstration").json()["playing"]
    assert (shown["chapter"]["title"], shown["observed"]) == ("Loss", None)
    for reader in (limited_key(owner, [other.id], "read"), other_owner):
        assert reader.get("/v1/demonstration").json() == {"playing": None}
    assert limited_key(owner, [played.id], "read").get("/v1/demonstration").json()["playing"] == shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "some avg10=85.39 avg60=64.24 avg300=83.56 total=1176\nfull avg10=0.00 avg60=0.50 avg300=0.00 total=0\n",
            64.24,
        ),
        ("full avg60=0.50\n", None),
        ("some avg60=much\n", None),
        ("", None),
    ],
)
def test_the_pressure_of_the_kernel_is_read(tmp_path: Path, text: str, expected: float | None) -> None:
    file = tmp_path / "cpu"
    file.write_text(text)
    assert waiting_percent(file) == expected


def test_a_kernel_without_pressure_says_nothing(tmp_path: Path) -> None:
    assert waiting_percent(tmp_path / "none") is None
