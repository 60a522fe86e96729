"""Use cases of reports of simulations."""

from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.kit.errors import existing
from sinemora.labs.simulation.models import Simulation
from sinemora.labs.simulation.schemas import SimulationCreate


def get_simulation(session: Session, simulation_id: UUID) -> Simulation:
    """Return the tenant's simulation. ProductError `simulation_unknown`."""
    return existing(session.get(Simulation, simulation_id), "simulation")


def create_simulation(session: Session, actor: Actor | None, body: SimulationCreate) -> Simulation:
    """Store a report. Names need not be unique: each run has a separate report. Without `actor` a job stores it."""
    row = Simulation(**body.model_dump(mode="json"))
    audit.created(session, actor, "simulation", row)
    return row


def delete_simulation(session: Session, actor: Actor, simulation_id: UUID) -> None:
    """Delete a report. ProductError `simulation_unknown`."""
    row = get_simulation(session, simulation_id)
    audit.deleted(session, actor, "simulation", row)
