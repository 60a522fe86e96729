"""Use cases of scenarios and options."""

from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.applications.schemas import Named
from sinemora.applications.service import get_application
from sinemora.kit.db import locked, refuse_taken
from sinemora.kit.errors import ProductError, existing
from sinemora.kit.http.etag import IfMatch
from sinemora.measurements.schemas import Span
from sinemora.recommendations import explanation, load_instance
from sinemora.recommendations.core.instance import Instance
from sinemora.recommendations.schemas import ExpectedRead, RecommendationRequest
from sinemora.recommendations.service import resolve_mesh
from sinemora.recommendations.what_if import next_vms, options
from sinemora.recommendations.what_if.models import Scenario
from sinemora.recommendations.what_if.next_vms import Place
from sinemora.recommendations.what_if.options import Option, Report
from sinemora.recommendations.what_if.schemas import (
    IdleVmRead,
    NextVmsRead,
    NextVmsRequest,
    OptionRead,
    OptionsRead,
    OptionsRequest,
    PlaceRead,
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
    instance, place, window = _loaded(session, application_id, request)
    application = instance.applications[place]
    return OptionsRead(
        application=Named.model_validate(application),
        window=window,
        options=[
            _option_read(instance, place, option)
            for option in options.options(instance, place, request.extra_max, application.move_cost, report)
        ],
        untried=options.untried(instance, place),
    )


def next_vms_of(session: Session, application_id: UUID, request: NextVmsRequest) -> NextVmsRead:
    """Return where the next VMs of an application should be. ProductErrors of `options_of`, `task_unknown`."""
    instance, at, window = _loaded(session, application_id, request)
    application = instance.applications[at]
    task = next_vms.usual_task(application)
    if request.task is not None:
        named = [at for at, one in enumerate(application.tasks) if request.task in (one.name, str(one.id))]
        if not named:
            raise ProductError("task_unknown", 404, f"Unknown task: {application.name} has no task {request.task}.")
        task = named[0]
    count = request.vms
    places, idle = next_vms.advise(instance, application, task, count, request.trial_max, request.price_per_hour)
    machines = instance.machines
    return NextVmsRead(
        application=Named.model_validate(application),
        task=Named.model_validate(application.tasks[task]),
        vms=count,
        window=window,
        places=[_place_read(place, count) for place in places],
        idle=[
            IdleVmRead(
                vm=Named.model_validate(machines[one.machine]),
                zone=machines[one.machine].zone,
                price_per_hour=machines[one.machine].price_per_hour,
                performance=None if one.performance is None else ExpectedRead.model_validate(one.performance),
            )
            for one in idle
        ],
        untried=next_vms.untried(instance, application, task, places),
    )


def _loaded(
    session: Session, application_id: UUID, request: OptionsRequest | NextVmsRequest
) -> tuple[Instance, int, Span]:
    """Return the instance, the position of the application in it, and the period of its windows."""
    application = get_application(session, application_id)
    windows_of = RecommendationRequest(
        statistic=request.statistic, minutes=request.minutes, applications=[str(application_id)]
    )
    instance, history = load_instance.load(session, application.mesh_id, windows_of)
    place = next(at for at, one in enumerate(instance.applications) if one.id == application_id)
    begin, end = history.span or (None, None)
    return instance, place, Span(from_=begin, to=end)


def _place_read(place: Place, count: int) -> PlaceRead:
    rent, where = place.kept.rented, _where(place)
    words = f"Rent {rent} {where}" + (f", measure for an hour, keep the best {count}" if rent > count else "")
    like = _like(place.like)
    if place.estimated:
        like = f"{like[:-1]}, {place.estimated} of them over paths that are estimated, not measured."
    return PlaceRead.from_row(
        place,
        rent=rent,
        first=place.kept.first,
        performance=ExpectedRead.model_validate(place.kept.then),
        words=f"{words}; {like}",
    )


def _option_read(instance: Instance, place: int, option: Option) -> OptionRead:
    application = instance.applications[place]
    tasks = [Named.model_validate(application.tasks[task]) for task in option.tasks]
    where = _where(option)
    names = ", ".join(task.name for task in tasks[:3]) + (f" and {len(tasks) - 3} more" if len(tasks) > 3 else "")
    if option.kind == "swap":
        words = f"Swap the VMs of {tasks[0].name} and {tasks[1].name}."
    elif option.kind == "recreate":
        vm = instance.machines[int(application.at[option.tasks[0]])].name
        runs = "" if names == vm else f", which runs {names},"
        words = f"Re-create {vm}{runs} {where}; {_like(option.draws)}"
    else:
        words = (
            f"Rent {option.count} more {where}, measure, keep the best {len(tasks)} for {names}; {_like(option.draws)}"
        )
    return OptionRead.from_row(option, tasks=tasks, gain=explanation.gain_read(option.gain), words=words)


def _where(one: Option | Place) -> str:
    return f"near the VMs of {one.host}" if one.host else f"in {one.zone}"


def _like(vms: int) -> str:
    if vms == 1:
        return "one VM was measured there, too few for an interval."
    return f"estimated from {vms} VMs measured there."
