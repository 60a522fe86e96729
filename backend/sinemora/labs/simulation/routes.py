"""HTTP of reports of simulations."""

from uuid import UUID

from fastapi import Response
from sqlalchemy import select

from sinemora.access.tenants.access import Editor, Viewer, signed_in_router
from sinemora.jobs.responses import ACCEPTED, accepted
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.paging import Page, Paging, Slice, paginate
from sinemora.labs.simulation import job, service
from sinemora.labs.simulation.models import Simulation
from sinemora.labs.simulation.schemas import SimulationCreate, SimulationDetail, SimulationRead, SimulationRun

router = signed_in_router("/v1/simulations", "simulations")


@router.get("", response_model=Page[SimulationRead])
def list_simulations(session: SessionDep, actor: Viewer, page: Paging) -> Slice[Simulation]:
    """List reports of simulations, newest first."""
    return paginate(session, select(Simulation), page, Simulation.created_at, descending=True)


@router.post("", status_code=201, response_model=SimulationDetail, responses=responses(413, 422))
def create_simulation(body: SimulationCreate, session: SessionDep, actor: Editor) -> Simulation:
    """Store the report that `sinemora simulate --report` wrote into `simulation.json`, under a name."""
    return service.create_simulation(session, actor, body)


@router.post("/runs", status_code=202, responses=responses(422) | ACCEPTED)
def run_simulation(body: SimulationRun, session: SessionDep, actor: Editor) -> Response:
    """Simulate a cluster as a job; its result names the report.

    The job reports its progress and can be cancelled.
    """
    return accepted(job.submit(session, actor, body))


@router.get("/{simulation_id}", response_model=SimulationDetail, responses=responses(404))
def read_simulation(simulation_id: UUID, session: SessionDep, actor: Viewer) -> Simulation:
    """Read one report: figures and distribution of scores of each policy."""
    return service.get_simulation(session, simulation_id)


@router.delete("/{simulation_id}", status_code=204, responses=responses(404))
def delete_simulation(simulation_id: UUID, session: SessionDep, actor: Editor) -> None:
    """Delete a report."""
    service.delete_simulation(session, actor, simulation_id)
