"""Play the demonstration's story on its network: `python -m sinemora.operations.embedded.story.play STAGE_FILE`.

It starts the network, waits until every path is measured and alert rules count it, creates the scene, and plays the
chapters again and again.
"""

import asyncio
import secrets
import signal
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

from sqlalchemy.exc import SQLAlchemyError

from sinemora import tables
from sinemora.access.tenants.access import Actor
from sinemora.applications.learning import service as learning
from sinemora.applications.learning.schemas import MetricPointWrite
from sinemora.fleet.meshes.models import Mesh
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.db import named, tenant_session
from sinemora.kit.delaybox import Delaybox, DelayboxError
from sinemora.kit.errors import ProductError
from sinemora.operations.embedded.demo.machines import MESH
from sinemora.operations.embedded.demo.stage import Stage
from sinemora.operations.embedded.first_run import owner_of_demonstration
from sinemora.operations.embedded.readiness import coverage, settles_in_s
from sinemora.operations.embedded.story import chapters, scene
from sinemora.operations.embedded.story.busy import waiting_percent
from sinemora.operations.embedded.story.hook import Hook
from sinemora.operations.embedded.story.work import Work
from sinemora.overview.demonstration import service
from sinemora.overview.demonstration.schemas import Chapter as ShownChapter
from sinemora.overview.demonstration.schemas import Demonstration, ObservedWork
from sinemora.recommendations import job
from sinemora.recommendations import queries as recommendations
from sinemora.recommendations.models import Trigger
from sinemora.recommendations.schemas import RecommendationRequest

assert tables  # models of all features, so that relationships between them resolve
_TICK_S = 2.0
_POINT_EVERY_S = 10.0
_LOOK_BACK_MINUTES = 5


class Player:
    """The story on a running network."""

    def __init__(self, stage: Stage, network: Delaybox, work: Work, hook: Hook) -> None:
        self._stage = stage
        self._network = network
        self._work = work
        self._hook = hook
        self._usual_per_s: float | None = None
        self._played = -1
        self._pushed_at = 0.0

    async def play(self) -> None:
        """Play the story until cancelled."""
        await self._complete()
        owner = await asyncio.to_thread(owner_of_demonstration)
        mesh_id, source_id = await asyncio.to_thread(self._create_scene, owner)
        await self._settle(owner, mesh_id)
        began_s, began_at = time.monotonic(), datetime.now(UTC)
        print("the story begins", flush=True)
        while True:
            elapsed_s = time.monotonic() - began_s
            number, chapter = chapters.chapter_at(elapsed_s)
            if number != self._played:
                self._played = number
                print(f"{chapter.title}: {chapter.text}", flush=True)
                for change in chapter.changes:
                    await asyncio.to_thread(self._network.ask, change)
                if chapter.asks_for_moves:
                    await asyncio.to_thread(self._ask_for_moves, owner, mesh_id)
            await asyncio.to_thread(self._report, owner, mesh_id, source_id, chapter, elapsed_s, began_at)
            await asyncio.sleep(_TICK_S)

    async def _complete(self) -> None:
        """Return when every path between the machines is measured."""
        while True:
            with suppress(SQLAlchemyError):
                if (await asyncio.to_thread(coverage)).complete(len(self._stage.machines)):
                    return
            await asyncio.sleep(_TICK_S)

    async def _settle(self, owner: Actor, mesh_id: UUID) -> None:
        """Return when alert rules count every path; say meanwhile what the demonstration waits for."""
        title, text = chapters.SETTLING
        began_at = datetime.now(UTC)
        while True:
            left_s = 1
            with suppress(SQLAlchemyError):
                left_s = await asyncio.to_thread(settles_in_s, owner.tenant_id, mesh_id)
            if not left_s:
                return
            chapter = ShownChapter(
                title=title, text=text, started_at=began_at, ends_at=datetime.now(UTC) + timedelta(seconds=left_s)
            )
            shown = Demonstration(chapter=chapter, observed=None, notified=None, waiting_percent=waiting_percent())
            service.publish(owner.tenant_id, mesh_id, shown)
            await asyncio.sleep(_TICK_S)

    def _create_scene(self, owner: Actor) -> tuple[UUID, UUID]:
        with tenant_session(owner.tenant_id) as session:
            mesh = named(session, Mesh, MESH)
            assert mesh is not None  # its paths are measured
            state = mesh_state(session, mesh.id)
            return mesh.id, scene.create(session, owner, state, self._hook.url, secrets.token_urlsafe(24))

    def _ask_for_moves(self, owner: Actor, mesh_id: UUID) -> None:
        """Request a recommendation, unless the newest one is recent."""
        try:
            with tenant_session(owner.tenant_id) as session:
                newest = recommendations.newest_of_mesh(session, mesh_id)
                if newest is None or datetime.now(UTC) - newest.created_at > timedelta(seconds=chapters.LENGTH_S):
                    request = RecommendationRequest(minutes=_LOOK_BACK_MINUTES)
                    job.submit(session, owner, mesh_id, request, Trigger.asked)
        except (ProductError, SQLAlchemyError) as error:
            print(f"no recommendation requested: {error}", flush=True)

    def _report(
        self,
        owner: Actor,
        mesh_id: UUID,
        source_id: UUID,
        chapter: chapters.Chapter,
        elapsed_s: float,
        began_at: datetime,
    ) -> None:
        """Publish the chapter and the measured rate of requests; push the rate to its metric source."""
        now_per_s = self._work.rate_per_s(scene.WATCHED)
        if chapter is chapters.CHAPTERS[0]:
            self._usual_per_s = self._work.rate_per_s(scene.WATCHED, elapsed_s % chapters.LENGTH_S)
        start_s = elapsed_s - (elapsed_s % chapters.LENGTH_S - chapter.at_s)
        shown = ShownChapter(
            title=chapter.title,
            text=chapter.text,
            started_at=began_at + timedelta(seconds=start_s),
            ends_at=began_at + timedelta(seconds=chapters.next_start_s(elapsed_s)),
        )
        observed = None
        if now_per_s is not None and self._usual_per_s:
            observed = ObservedWork(application=scene.WATCHED, now_per_s=now_per_s, usual_per_s=self._usual_per_s)
        demonstration = Demonstration(
            chapter=shown, observed=observed, notified=self._hook.newest, waiting_percent=waiting_percent()
        )
        service.publish(owner.tenant_id, mesh_id, demonstration)
        if not now_per_s or time.monotonic() - self._pushed_at < _POINT_EVERY_S:
            return
        self._pushed_at = time.monotonic()
        try:
            with tenant_session(owner.tenant_id) as session:
                learning.push(session, source_id, [MetricPointWrite(at=datetime.now(UTC), value=now_per_s)])
        except (ProductError, SQLAlchemyError) as error:  # a user may have deleted the source
            print(f"no metric stored: {error}", flush=True)


async def main(stage: Stage) -> None:
    """Run network, work and story until SIGTERM."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    network, hook, work = Delaybox(["relay", str(stage.relay_file)], stage.delaybox), Hook(), Work(stage.machines)
    try:
        await work.open()
        async with asyncio.TaskGroup() as tasks:
            for application, client, server in scene.LINKS:
                tasks.create_task(work.run(application, client, server))
            await Player(stage, network, work, hook).play()
    finally:
        hook.close()
        network.close()


if __name__ == "__main__":
    try:
        with suppress(asyncio.CancelledError):
            asyncio.run(main(Stage.read(Path(sys.argv[1]))))
    except DelayboxError as error:
        sys.exit(f"The network of the demonstration failed: {error}")
