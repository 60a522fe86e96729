"""Show a small simulated network in the first tenant from its first second on, and keep it current.

    python -m sinemora.operations.embedded.simulated.first_screen FOLDER API

It has a day of windows, usual values, incidents, applications and a recommendation, while real agents have measured
nothing yet. After its mesh is deleted it is not loaded again. FOLDER keeps its state; the file `LOADED` in it says that
loading has ended.
"""

import sys
import time
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from sinemora.kit.db import tenant_session
from sinemora.kit.errors import ProductError
from sinemora.operations.embedded.demo.programs import LOADED
from sinemora.operations.embedded.errors import EmbeddedError
from sinemora.operations.embedded.simulated import tenant
from sinemora.operations.embedded.simulated.api import HttpApi, Post
from sinemora.operations.embedded.simulated.play import Demo, load
from sinemora.operations.embedded.simulated.progress import say
from sinemora.operations.embedded.simulated.state import State
from sinemora.operations.embedded.simulated.world import World, make_world
from sinemora.recommendations import job
from sinemora.recommendations.models import Trigger
from sinemora.recommendations.schemas import RecommendationRequest

_VMS, _REGIONS = 18, 2
_AGAIN_S = 30.0
_MINUTES = 15
"""Minutes of measurements that the recommendation uses: the faults that continue are younger than twenty."""


def show(folder: Path, post: Post) -> None:
    """Load the network, or continue with it, until its mesh is deleted."""
    path = folder / "simulated-network.json"
    home = tenant.first_home()
    while True:
        state = State.read(path)
        if state is not None and state.is_loaded and tenant.find(home) is None:
            say("The mesh of the simulated network was deleted. It is not loaded again.")
            return
        try:
            demo = load(post, path, world_of=small, home=home)
            if state is None or not state.is_loaded:
                _ask_for_moves(demo)
            (folder / LOADED).touch()
            while True:
                demo.send_next()
        except (EmbeddedError, SQLAlchemyError) as error:
            say(f"Trying again in {_AGAIN_S:.0f} s: {error}")
            time.sleep(_AGAIN_S)


def small(seed: int) -> World:
    """Return the network of a seed: 18 VMs in six zones of two regions."""
    return make_world(seed, _VMS, _REGIONS)


def _ask_for_moves(demo: Demo) -> None:
    """Request a recommendation on the loaded network."""
    actor = demo.simulated.actor
    try:
        with tenant_session(actor.tenant_id) as session:
            job.submit(session, actor, demo.simulated.mesh_id, RecommendationRequest(minutes=_MINUTES), Trigger.asked)
    except ProductError as error:
        say(f"No recommendation was requested: {error}")


if __name__ == "__main__":
    show(Path(sys.argv[1]), HttpApi(sys.argv[2]))
