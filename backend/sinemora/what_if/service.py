"""Use cases of scenarios and options."""

from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.applications.schemas import Named
from sinemora.applications.service import get_application
from sinemora.kit.errors import NotFound, ProductError
from sinemora.kit.etag import IfMatch
from sinemora.measurements.schemas import Span
from sinemora.recommendations import explanation, load_instance
from sinemora.recommendations.instance import World
from sinemora.recommendations.schemas import Percentile, Question
from sinemora.recommendations.service import mesh_of
from sinemora.tenants import audit
from sinemora.tenants.access import Actor
from sinemora.what_if import options, queries
from sinemora.what_if.models import Scenario
from sinemora.what_if.options import Option
from sinemora.what_if.schemas import OptionRead, OptionsRead, ScenarioCreate, ScenarioRead, ScenarioUpdate, WhatIf


def get_scenario(session: Session, scenario_id: UUID) -> Scenario:
    """The tenant's scenario. ProductError `scenario_unknown`."""
    found = session.get(Scenario, scenario_id)
    if found is None:
        raise NotFound("scenario")
    return found


def create_scenario(session: Session, actor: Actor, body: ScenarioCreate) -> Scenario:
    """Keep a what-if question. ProductError `mesh_unknown`, `scenario_name_taken`."""
    _name_free(session, body.name)
    mesh = mesh_of(session, body.mesh)
    question = body.model_dump(mode="json", exclude={"name", "mesh"})
    found = Scenario(name=body.name, mesh_id=mesh.id, question=question)
    audit.created(session, actor, "scenario", found)
    return found


def update_scenario(
    session: Session, actor: Actor, scenario_id: UUID, body: ScenarioUpdate, precondition: IfMatch
) -> Scenario:
    """Change a scenario; what is not said stays. ProductErrors of `create_scenario`, `version_changed`."""
    found = queries.locked(session, scenario_id)
    if found is None:
        raise NotFound("scenario")
    precondition.check(found)
    said = {
        field: value for field, value in body.model_dump(mode="json", exclude_unset=True).items() if value is not None
    }
    name = said.pop("name", found.name)
    if name != found.name:
        _name_free(session, name)
        found.name = name
    found.question = found.question | said
    found.updated_at = datetime.now(UTC)
    audit.updated(session, actor, "scenario", found, said)
    return found


def delete_scenario(session: Session, actor: Actor, scenario_id: UUID, precondition: IfMatch) -> None:
    """Forget a scenario. ProductError `scenario_unknown`, `version_changed`."""
    found = get_scenario(session, scenario_id)
    precondition.check(found)
    session.delete(found)
    audit.record(session, actor, "scenario.deleted", found.id, found.name)


def scenario_read(found: Scenario) -> ScenarioRead:
    """As it is shown."""
    fields = ("id", "name", "version", "created_at", "updated_at")
    return ScenarioRead(
        **{field: getattr(found, field) for field in fields},
        mesh=Named.model_validate(found.mesh),
        question=WhatIf.model_validate(found.question),
    )


def options_of(
    session: Session, application_id: UUID, statistic: Percentile, minutes: int, extra_max: int
) -> OptionsRead:
    """What could be done for an application beyond moving. ProductError `application_unknown`, `matrix_missing`."""
    application = get_application(session, application_id)
    question = Question(statistic=statistic, minutes=minutes, applications=[str(application_id)])
    world, seen = load_instance.world(session, application.mesh_id, question)
    place = next(at for at, one in enumerate(world.applications) if one.id == application_id)
    price = world.applications[place].move_cost
    span = seen.span
    return OptionsRead(
        application=Named.model_validate(application),
        window=Span(from_=None if span is None else span[0], to=None if span is None else span[1]),
        options=[_option_read(world, place, one) for one in options.options(world, place, extra_max, price)],
    )


def _option_read(world: World, place: int, option: Option) -> OptionRead:
    one = world.applications[place]
    tasks = [Named.model_validate(one.tasks[task]) for task in option.tasks]
    where = f"beside the VMs of {option.host}" if option.host else f"in {option.zone}"
    names = ", ".join(task.name for task in tasks[:3]) + (f" and {len(tasks) - 3} more" if len(tasks) > 3 else "")
    if option.kind == "swap":
        words = f"Let {tasks[0].name} and {tasks[1].name} change roles: each takes the other's VM."
    elif option.kind == "recreate":
        vm = world.machines[int(one.at[option.tasks[0]])].name
        words = f"Make {vm}, where {names} runs, anew {where}; {_like(option)}"
    else:
        words = f"Rent {option.count} more {where}, measure, keep the best {len(tasks)} for {names}; {_like(option)}"
    return OptionRead(
        kind=option.kind,
        tasks=tasks,
        zone=option.zone,
        host=option.host,
        count=option.count,
        gain=explanation.gain_read(option.gain),
        draws=option.draws,
        price_change_per_hour=option.price_change_per_hour,
        price_once=option.price_once,
        words=words,
    )


def _like(option: Option) -> str:
    if option.draws == 1:
        return "one VM was measured there: how others would do cannot be told."
    return f"{option.draws} VMs measured there tell how it would do."


def _name_free(session: Session, name: str) -> None:
    if queries.scenario_named(session, name):
        raise ProductError("scenario_name_taken", 409, f"There is a scenario named {name} already.")
