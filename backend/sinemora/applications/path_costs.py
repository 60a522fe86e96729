"""Costs of paths and zone pairs to the applications that use them."""

from collections.abc import Sequence
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.applications import attach, queries
from sinemora.applications.models import Application
from sinemora.applications.performance import Flags, Indices, Links, Reached
from sinemora.applications.reading import machines_of, network, predict
from sinemora.applications.schemas import ApplicationCost, PathCosts, SelectionCost
from sinemora.fleet.meshes.service import mesh_state
from sinemora.measurements.aggregate.matrix import Statistic
from sinemora.measurements.query.selections import SelectedPaths, paths_of
from sinemora.measurements.schemas import Span


def costs_of(session: Session, mesh_id: UUID, selections: Sequence[str]) -> PathCosts:
    """Return the application that loses most on each selection of paths.

    Links are predicted from round trips, so that both directions count. ProductError `mesh_unknown`,
    `selection_invalid`, `path_unknown`.
    """
    mesh = mesh_state(session, mesh_id)
    selected = paths_of(mesh, selections)
    vms = [member.id for member, used in zip(mesh.members, _ends(selected), strict=True) if used]
    applications = queries.applications_on(session, mesh_id, vms)
    if not applications:
        none = [SelectionCost(selection=one.selection, applications=0, worst=None) for one in selected]
        return PathCosts(window=Span(from_=None, to=None), items=none)
    net = network(session, mesh_id, Statistic.P50)
    curves = attach.entries(session, applications)
    reached = [(one, machines_of(one, net), predict(one, net, curves[one.id])) for one in applications]
    return PathCosts(
        window=Span(from_=net.result.started_at, to=net.result.ended_at),
        items=[_cost(paths, reached) for paths in selected],
    )


def _ends(selected: Sequence[SelectedPaths]) -> Flags:
    used: Flags = np.any([paths.vms for paths in selected], axis=0)
    return used


def _cost(paths: SelectedPaths, reached: Sequence[tuple[Application, Indices, Reached]]) -> SelectionCost:
    costs: list[ApplicationCost] = []
    for application, at, links in reached:
        over = _over(paths, at, links.links)
        if over.any():
            costs.append(ApplicationCost(id=application.id, name=application.name, cost=links.cost(over)))
    worst = max(costs, key=lambda one: -1.0 if one.cost is None else one.cost, default=None)
    return SelectionCost(selection=paths.selection, applications=len(costs), worst=worst)


def _over(paths: SelectedPaths, at: Indices, links: Links) -> Flags:
    """Return the mask of links between a source and a target of the paths, in either direction."""
    a, b = at[links.sources], at[links.targets]
    # A link within one machine uses no path.
    between = (a >= 0) & (b >= 0) & (a != b)
    over: Flags = between & ((paths.rows[a] & paths.columns[b]) | (paths.rows[b] & paths.columns[a]))
    return over
