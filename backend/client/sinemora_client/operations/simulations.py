"""Operations with the tag `simulations`.

Generated from the contract by `make gen`; do not edit.
"""

from collections.abc import Iterator
from uuid import UUID

from sinemora_client import models
from sinemora_client.calls import Calls
from sinemora_client.transport import segment


class SimulationsOperations(Calls):
    """Operations with the tag `simulations`."""

    def create_simulation(
        self,
        body: models.SimulationCreate,
        *,
        idempotency_key: str | None = None,
    ) -> models.SimulationDetail:
        """Store the report that `sinemora simulate --report` wrote into `simulation.json`, under a name.

        POST /v1/simulations, role editor. Raises `ApiError` with `conflict`.
        """
        answer: models.SimulationDetail = self._json("POST", "/v1/simulations", body=body, idempotency_key=idempotency_key)
        return answer

    def delete_simulation(self, simulation_id: str | UUID) -> None:
        """Delete a report.

        DELETE /v1/simulations/{simulation_id}, role editor. Raises `ApiError` with `simulation_unknown`.
        """
        self._json("DELETE", f"/v1/simulations/{segment(simulation_id)}")

    def list_simulations(self) -> Iterator[models.SimulationRead]:
        """List reports of simulations, newest first.

        GET /v1/simulations, role viewer.
        """
        return self._items("/v1/simulations", {})

    def read_simulation(self, simulation_id: str | UUID) -> models.SimulationDetail:
        """Read one report: figures and distribution of scores of each policy.

        GET /v1/simulations/{simulation_id}, role viewer. Raises `ApiError` with `simulation_unknown`.
        """
        answer: models.SimulationDetail = self._json("GET", f"/v1/simulations/{segment(simulation_id)}")
        return answer

    def run_simulation(self, body: models.SimulationRun, *, idempotency_key: str | None = None) -> models.JobRead:
        """Simulate a cluster as a job; its result names the report.

        The job reports its progress and can be cancelled.

        POST /v1/simulations/runs, role editor. Raises `ApiError` with `conflict`, `curve_unknown`, `jobs_too_many`.
        """
        answer: models.JobRead = self._json("POST", "/v1/simulations/runs", body=body, idempotency_key=idempotency_key)
        return answer

