"""Operations with the tag `overview`.

Generated from the contract by `make gen`; do not edit.
"""

from uuid import UUID

from sinemora_client import models
from sinemora_client.calls import Calls
from sinemora_client.transport import segment


class OverviewOperations(Calls):
    """Operations with the tag `overview`."""

    def about(self) -> models.About:
        """Return the version of the product and the capabilities of its database.

        GET /v1/about, role viewer.
        """
        answer: models.About = self._json("GET", "/v1/about")
        return answer

    def list_findings(self) -> list[models.AdvisorFinding]:
        """List what the advisors find in the measurements of all meshes, findings about open incidents first.

        GET /v1/overview/findings, role viewer. Raises `ApiError` with `conflict`, `flows_unsupported`,
        `mesh_unknown`, `path_missing`, `path_same_ends`, `path_unknown`, `path_unmeasured`, `range_invalid`,
        `selection_invalid`, `selection_repeated`, `vm_not_in_mesh`, `vm_unknown`.
        """
        answer: list[models.AdvisorFinding] = self._json("GET", "/v1/overview/findings")
        return answer

    def list_findings_of_incident(self, incident_id: str | UUID) -> list[models.AdvisorFinding]:
        """List what the advisors find about the path of an incident that changed most.

        GET /v1/overview/incidents/{incident_id}/findings, role viewer. Raises `ApiError` with `conflict`,
        `flows_unsupported`, `incident_unknown`, `mesh_unknown`, `path_same_ends`, `path_unknown`,
        `path_unmeasured`, `range_invalid`, `selection_invalid`, `selection_repeated`, `vm_not_in_mesh`,
        `vm_unknown`.
        """
        answer: list[models.AdvisorFinding] = self._json("GET", f"/v1/overview/incidents/{segment(incident_id)}/findings")
        return answer

    def read_application_ranking(self) -> models.ApplicationRanking:
        """List the applications with the lowest predicted performance, those below their objective first.

        GET /v1/overview/applications, role viewer. Raises `ApiError` with `flows_unsupported`, `mesh_unknown`,
        `range_invalid`.
        """
        answer: models.ApplicationRanking = self._json("GET", "/v1/overview/applications")
        return answer

    def read_mesh_health(self, mesh_id: str | UUID) -> models.MeshHealth:
        """Return the health of one mesh now, and its incidents of the last 24 hours.

        GET /v1/overview/meshes/{mesh_id}, role viewer. Raises `ApiError` with `mesh_unknown`, `range_invalid`.
        """
        answer: models.MeshHealth = self._json("GET", f"/v1/overview/meshes/{segment(mesh_id)}")
        return answer

    def read_overview(self) -> models.OverviewRead:
        """Return the health of each mesh now, its incidents of the last 24 hours, and agents that need attention.

        GET /v1/overview, role viewer.
        """
        answer: models.OverviewRead = self._json("GET", "/v1/overview")
        return answer

