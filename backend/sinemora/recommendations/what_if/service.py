"""Use cases of scenarios and options."""

from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.applications.schemas import Named
from sinemora.applications.service import get_application
from sinemora.kit.db import locked, refuse_taken
from sinemora.kit.errors import existing
from sinemora.kit.http.etag import IfMatch
from sinemora.measurements.schemas import Span
from sinemora.recommendations import explanation, load_instance
from sinemora.recommendations.core.instance import Instance
from sinemora.recommendations.schemas import RecommendationRequest
from sinemora.recommendations.service import resolve_mesh
from sinemora.recommendations.what_if import options
from sinemora.recommendations.what_if.models import Scenario
from sinemora.recommendations.what_if.options import Option, Report
from sinemora.recommendations.what_if.schemas import (
    OptionRead,
    OptionsRead,
    OptionsRequest,
    ScenarioCreate,
    ScenarioRead,
    ScenarioUpdate,
    WhatIf,
)


def get_scenario(session: Session, scenario_id: UUID) -> Scenario:
    """Return the tenant's scenario. ProductError `scenario_unknown`."""
    return existing(session.get(Scenario, scenario_id), "scenario")


def create_scenario(session: Session, actor: Actor, body: ScenarioCreate) -> Scenario:
    """Save a what-if request. ProductError `mesh_unknown`, `scenario_name_taken`."""
    refuse_taken(session, Scenario, body.name, "scenario_name_taken")
    mesh = resolve_mesh(session, body.mesh)
    request = body.model_dump(mode="json", exclude={"name", "mesh"})
    scenario = Scenario(name=body.name, mesh_id=mesh.id, request=request)
    audit.created(session, actor, "scenario", scenario)
    return scenario


def update_scenario(
    session: Session, actor: Actor, scenario_id: UUID, body: ScenarioUpdate, precondition: IfMatch
) -> Scenario:
    """Update a scenario; omitted fields stay. ProductErrors of `create_scenario`, `version_changed`."""
    scenario = existing(locked(session, Scenario, scenario_id), "scenario")
    precondition.check(scenario)
    changed = body.model_dump(mode="json", exclude_unset=True)
    name = changed.pop("name", scenario.name)
    if name != scenario.name:
        refuse_taken(session, Scenario, name, "scenario_name_taken")
        scenario.name = name
    scenario.request = scenario.request | changed
    scenario.updated_at = datetime.now(UTC)
    audit.updated(session, actor, "scenario", scenario, changed)
    return scenario


def delete_scenario(session: Session, actor: Actor, scenario_id: UUID, precondition: IfMatch) -> None:
    """Delete a scenario. ProductError `scenario_unknown`, `version_changed`."""
    scenario = get_scenario(session, scenario_id)
    precondition.check(scenario)
    audit.deleted(session, actor, "scenario", scenario)


def scenario_read(scenario: Scenario) -> ScenarioRead:
    """Convert to the API schema."""
    fields = ("id", "name", "version", "created_at", "updated_at")
    return ScenarioRead(
        **{field: getattr(scenario, field) for field in fields},
        mesh=Named.model_validate(scenario.mesh),
        request=WhatIf.model_validate(scenario.request),
    )


def options_of(
    session: Session, application_id: UUID, request: OptionsRequest, report: Report = lambda share, step: None
) -> OptionsRead:
    """Return the options of an application other than moves. ProductError `application_unknown`, `matrix_missing`."""
    application = get_application(session, application_id)
    windows_of = RecommendationRequest(
        statistic=request.statistic, minutes=request.minutes, applications=[str(application_id)]
    )
    instance, history = load_instance.load(session, application.mesh_id, windows_of)
    place = next(at for at, application in enumerate(instance.applications) if application.id == application_id)
    price = instance.applications[place].move_cost
    span = history.span
    return OptionsRead(
        application=Named.model_validate(application),
        window=Span(from_=None if span is None else span[0], to=None if span is None else span[1]),
        options=[
            _option_read(instance, place, option)
            for option in options.options(instance, place, request.extra_max, price, report)
        ],
        untried=options.untried(instance, place),
    )


def _option_read(instance: Instance, place: int, option: Option) -> OptionRead:
    application = instance.applications[place]
    tasks = [Named.model_validate(application.tasks[task]) for task in option.tasks]
    where = f"near the VMs of {option.host}" if option.host else f"in {option.zone}"
    names = ", ".join(task.name for task in tasks[:3]) + (f" and {len(tasks) - 3} more" if len(tasks) > 3 else "")
    if option.kind == "swap":
        words = f"Swap the VMs of {tasks[0].name} and {tasks[1].name}."
    elif option.kind == "recreate":
        vm = instance.machines[int(application.at[option.tasks[0]])].name
        runs = "" if names == vm else f", which runs {names},"
        words = f"Re-create {vm}{runs} {where}; {_like(option)}"
    else:
        words = f"Rent {option.count} more {where}, measure, keep the best {len(tasks)} for {names}; {_like(option)}"
    return OptionRead.from_row(option, tasks=tasks, gain=explanation.gain_read(option.gain), words=words)


def _like(option: Option) -> str:
    if option.draws == 1:
        return "one VM was measured there, too few for an interval."
    return f"estimated from {option.draws} VMs measured there."
