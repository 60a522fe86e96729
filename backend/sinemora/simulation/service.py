"""Use cases of reports of simulations."""

from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.kit.errors import NotFound
from sinemora.simulation.models import Simulation
from sinemora.simulation.schemas import SimulationCreate
from sinemora.tenants import audit
from sinemora.tenants.access import Actor


def get_simulation(session: Session, simulation_id: UUID) -> Simulation:
    """Return the tenant's simulation. ProductError `simulation_unknown`."""
    found = session.get(Simulation, simulation_id)
    if found is None:
        raise NotFound("simulation")
    return found


def create_simulation(session: Session, actor: Actor, body: SimulationCreate) -> Simulation:
    """Keep a report. A name may come again: each run has a report of its own."""
    found = Simulation(**body.model_dump(mode="json"))
    audit.created(session, actor, "simulation", found)
    return found


def delete_simulation(session: Session, actor: Actor, simulation_id: UUID) -> None:
    """Forget a report. ProductError `simulation_unknown`."""
    found = get_simulation(session, simulation_id)
    session.delete(found)
    audit.record(session, actor, "simulation.deleted", found.id, found.name)
