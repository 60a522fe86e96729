"""Operations with the tag `scenarios`.

Generated from the contract by `make gen`; do not edit.
"""

from collections.abc import Iterator
from uuid import UUID
from typing import Literal

from sinemora_client import models
from sinemora_client.calls import Calls
from sinemora_client.transport import segment


class ScenariosOperations(Calls):
    """Operations with the tag `scenarios`."""

    def ask_what_if(self, body: models.WhatIfCreate) -> models.WhatIfRead:
        """Evaluate changes of tasks, VMs, zones, latencies or curves for every application of a mesh. Stores nothing.

        POST /v1/what-if, role viewer. Raises `ApiError` with `application_unknown`, `conflict`, `curve_unknown`,
        `curve_version_unknown`, `flows_unsupported`, `matrix_missing`, `mesh_unknown`, `range_invalid`,
        `task_unknown`, `vm_unknown`, `zone_unknown`.
        """
        answer: models.WhatIfRead = self._json("POST", "/v1/what-if", body=body)
        return answer

    def create_scenario(
        self,
        body: models.ScenarioCreate,
        *,
        idempotency_key: str | None = None,
    ) -> models.ScenarioRead:
        """Save a what-if request as a scenario.

        POST /v1/scenarios, role editor. Raises `ApiError` with `conflict`, `mesh_unknown`, `scenario_name_taken`.
        """
        answer: models.ScenarioRead = self._json("POST", "/v1/scenarios", body=body, idempotency_key=idempotency_key)
        return answer

    def delete_scenario(self, scenario_id: str | UUID, *, version: int | Literal["*"] | None = None) -> None:
        """Delete a scenario.

        DELETE /v1/scenarios/{scenario_id}, role editor. Raises `ApiError` with `if_match_weak`, `scenario_unknown`,
        `version_changed`.
        """
        self._json("DELETE", f"/v1/scenarios/{segment(scenario_id)}", version=version)

    def list_application_options(
        self,
        application_id: str | UUID,
        *,
        statistic: models.Percentile | None = None,
        minutes: int | None = None,
        extra_max: int | None = None,
    ) -> models.OptionsRead | models.JobRead:
        """List role swaps, re-created VMs and additional VMs for an application, with gain and price.

        Of a large application or mesh, a job does this, and its output is the list.

        GET /v1/applications/{application_id}/options, role viewer. Raises `ApiError` with `application_unknown`,
        `conflict`, `jobs_too_many`, `matrix_missing`, `mesh_unknown`, `range_invalid`.
        """
        answer: models.OptionsRead | models.JobRead = self._json("GET", f"/v1/applications/{segment(application_id)}/options", params={"statistic": statistic, "minutes": minutes, "extra_max": extra_max})
        return answer

    def list_scenarios(self, *, mesh_id: str | UUID | None = None) -> Iterator[models.ScenarioRead]:
        """List scenarios by name.

        GET /v1/scenarios, role viewer. Raises `ApiError` with `mesh_unknown`.
        """
        return self._items("/v1/scenarios", {"mesh_id": mesh_id})

    def read_scenario(self, scenario_id: str | UUID) -> models.ScenarioRead:
        """Return a scenario.

        GET /v1/scenarios/{scenario_id}, role viewer. Raises `ApiError` with `scenario_unknown`.
        """
        answer: models.ScenarioRead = self._json("GET", f"/v1/scenarios/{segment(scenario_id)}")
        return answer

    def update_scenario(
        self,
        scenario_id: str | UUID,
        body: models.ScenarioUpdate,
        *,
        version: int | Literal["*"],
    ) -> models.ScenarioRead:
        """Update a scenario; its changes are replaced as a whole.

        PATCH /v1/scenarios/{scenario_id}, role editor. Raises `ApiError` with `conflict`, `if_match_required`,
        `if_match_weak`, `scenario_name_taken`, `scenario_unknown`, `version_changed`.
        """
        answer: models.ScenarioRead = self._json("PATCH", f"/v1/scenarios/{segment(scenario_id)}", body=body, version=version)
        return answer

