"""Operations with the tag `advisors`.

Generated from the contract by `make gen`; do not edit.
"""

from collections.abc import Iterator
from uuid import UUID

from sinemora_client import models
from sinemora_client.calls import Calls
from sinemora_client.transport import segment


class AdvisorsOperations(Calls):
    """Operations with the tag `advisors`."""

    def advise_compute_mix(self, body: models.ComputeMixCreate) -> models.ComputeMixRead:
        """Find the cheapest split between VMs and serverless that keeps a response target, by path. Stores nothing.

        POST /v1/advisors/compute-mix, role viewer. Raises `ApiError` with `conflict`, `mesh_unknown`,
        `path_same_ends`, `path_unknown`, `path_unmeasured`, `price_ambiguous`, `price_list_unknown`,
        `price_missing`, `price_unknown`, `range_invalid`, `selection_invalid`, `selection_repeated`,
        `vm_not_in_mesh`, `vm_unknown`.
        """
        answer: models.ComputeMixRead = self._json("POST", "/v1/advisors/compute-mix", body=body)
        return answer

    def advise_provider_prices(self, body: models.ProviderPriceCreate) -> models.ProviderPriceRead:
        """Find the serverless prices at which the best mix switches, and the equilibrium. Stores nothing.

        POST /v1/advisors/provider-prices, role viewer.
        """
        answer: models.ProviderPriceRead = self._json("POST", "/v1/advisors/provider-prices", body=body)
        return answer

    def advise_shaping(self, body: models.ShapingCreate) -> models.ShapingRead:
        """Detect the token bucket of a path from bursts, or take a known one; forecast when it is empty. Stores
        nothing.

        POST /v1/advisors/token-buckets, role viewer.
        """
        answer: models.ShapingRead = self._json("POST", "/v1/advisors/token-buckets", body=body)
        return answer

    def advise_tail(self, body: models.TailCreate) -> models.TailRead:
        """Look for one retransmission timeout (195 to 235 ms) in latencies of an application. Stores nothing.

        POST /v1/advisors/retransmission-tails, role viewer.
        """
        answer: models.TailRead = self._json("POST", "/v1/advisors/retransmission-tails", body=body)
        return answer

    def advise_transfers(self, body: models.TransferPlanCreate) -> models.TransferPlanRead:
        """Plan the rates, connections and order of a shuffle or broadcast, and estimate its finish. Stores nothing.

        POST /v1/advisors/transfer-plans, role viewer. Raises `ApiError` with `flows_unsupported`, `mesh_unknown`,
        `range_invalid`, `vm_not_in_mesh`.
        """
        answer: models.TransferPlanRead = self._json("POST", "/v1/advisors/transfer-plans", body=body)
        return answer

    def advise_transport(self, body: models.TransportCreate) -> models.TransportRead:
        """Choose the transport of a path or transfer, with the rule and the measurement behind it. Stores nothing.

        POST /v1/advisors/transports, role viewer. Raises `ApiError` with `conflict`, `flows_unsupported`,
        `mesh_unknown`, `path_same_ends`, `path_unknown`, `path_unmeasured`, `range_invalid`, `selection_invalid`,
        `selection_repeated`, `vm_not_in_mesh`, `vm_unknown`.
        """
        answer: models.TransportRead = self._json("POST", "/v1/advisors/transports", body=body)
        return answer

    def advise_treatment(self, body: models.TreatmentCreate) -> models.TreatmentRead:
        """Detect whether a path prefers small packets or a DSCP class, from a burst of mixed packets. Stores nothing.

        POST /v1/advisors/packet-treatments, role viewer.
        """
        answer: models.TreatmentRead = self._json("POST", "/v1/advisors/packet-treatments", body=body)
        return answer

    def classify_traffic(self, body: models.TrafficShapeCreate) -> models.TrafficShapeRead:
        """Tell traffic in bursts (as of a sort) from steady traffic (as of k-means) by byte counters. Stores nothing.

        POST /v1/advisors/traffic-shapes, role viewer.
        """
        answer: models.TrafficShapeRead = self._json("POST", "/v1/advisors/traffic-shapes", body=body)
        return answer

    def compare_study(self, body: models.ShapingStudyCreate) -> models.ShapingStudyRead:
        """Return a study of `sinemora lab shape` next to the figures of the source, by operation. Stores nothing.

        POST /v1/advisors/shaping-studies, role viewer.
        """
        answer: models.ShapingStudyRead = self._json("POST", "/v1/advisors/shaping-studies", body=body)
        return answer

    def create_transfer_run(
        self,
        body: models.TransferRunCreate,
        *,
        idempotency_key: str | None = None,
    ) -> models.BulkRunRead:
        """Plan transfers between VMs and run them: filler bytes at the planned rates, all at once.

        POST /v1/transfer-runs, role editor. Raises `ApiError` with `bulk_agent_silent`, `bulk_limit_exceeded`,
        `bulk_sender_off`, `bulk_transport_unavailable`, `bulk_vm_busy`, `conflict`, `flows_unsupported`,
        `mesh_unknown`, `path_unknown`, `range_invalid`, `selection_invalid`, `selection_repeated`,
        `vm_not_in_mesh`, `vm_unknown`.
        """
        answer: models.BulkRunRead = self._json("POST", "/v1/transfer-runs", body=body, idempotency_key=idempotency_key)
        return answer

    def create_transport_trial(
        self,
        body: models.TransportTrialCreate,
        *,
        idempotency_key: str | None = None,
    ) -> models.BulkRunRead:
        """Compare two transports between two VMs by alternated transfers. Both agents need the bulk sender.

        POST /v1/transport-trials, role editor. Raises `ApiError` with `bulk_agent_silent`, `bulk_limit_exceeded`,
        `bulk_sender_off`, `bulk_transport_unavailable`, `bulk_vm_busy`, `conflict`, `mesh_unknown`,
        `path_same_ends`, `path_unknown`, `range_invalid`, `selection_invalid`, `selection_repeated`,
        `vm_not_in_mesh`, `vm_unknown`.
        """
        answer: models.BulkRunRead = self._json("POST", "/v1/transport-trials", body=body, idempotency_key=idempotency_key)
        return answer

    def delete_price_basis(self, application_id: str | UUID) -> None:
        """Delete the price basis of an application.

        DELETE /v1/applications/{application_id}/price-basis, role editor. Raises `ApiError` with
        `application_unknown`, `price_basis_unknown`.
        """
        self._json("DELETE", f"/v1/applications/{segment(application_id)}/price-basis")

    def delete_price_list(self, price_list_id: str | UUID) -> None:
        """Delete a price list.

        DELETE /v1/price-lists/{price_list_id}, role editor. Raises `ApiError` with `price_list_unknown`.
        """
        self._json("DELETE", f"/v1/price-lists/{segment(price_list_id)}")

    def import_fairness(
        self,
        body: models.FairnessImportCreate,
        *,
        idempotency_key: str | None = None,
    ) -> models.FairnessImportRead:
        """Return Jain's index of a table of throughputs, or the means of a table of indices. Stores nothing.

        POST /v1/advisors/fairness-imports, role viewer. Raises `ApiError` with `conflict`, `table_invalid`.
        """
        answer: models.FairnessImportRead = self._json("POST", "/v1/advisors/fairness-imports", body=body, idempotency_key=idempotency_key)
        return answer

    def import_price_list(
        self,
        body: models.PriceListCreate,
        *,
        idempotency_key: str | None = None,
    ) -> models.PriceListRead:
        """Import a price list from entries, CSV or JSON text. Replaces the list of that name.

        POST /v1/price-lists, role editor. Raises `ApiError` with `conflict`, `price_list_invalid`.
        """
        answer: models.PriceListRead = self._json("POST", "/v1/price-lists", body=body, idempotency_key=idempotency_key)
        return answer

    def list_bulk_runs(self, *, mesh_id: str | UUID | None = None) -> Iterator[models.BulkRunSummary]:
        """List trials and runs of transfers, newest first. The newest 200 of a tenant are kept for 30 days.

        GET /v1/bulk-runs, role viewer. Raises `ApiError` with `mesh_unknown`.
        """
        return self._items("/v1/bulk-runs", {"mesh_id": mesh_id})

    def list_bulk_senders(self, mesh_id: str | UUID) -> list[models.BulkSenderRead]:
        """List the bulk sender of each VM of a mesh: whether it is on, its limits, and what its kernel offers.

        GET /v1/meshes/{mesh_id}/bulk-senders, role viewer. Raises `ApiError` with `mesh_unknown`.
        """
        answer: list[models.BulkSenderRead] = self._json("GET", f"/v1/meshes/{segment(mesh_id)}/bulk-senders")
        return answer

    def list_price_list_samples(self) -> list[models.PriceListSample]:
        """List the price lists that ship with the product; import one to use it.

        GET /v1/price-list-samples, role viewer.
        """
        answer: list[models.PriceListSample] = self._json("GET", "/v1/price-list-samples")
        return answer

    def list_price_lists(self) -> Iterator[models.PriceListRead]:
        """List price lists by name.

        GET /v1/price-lists, role viewer.
        """
        return self._items("/v1/price-lists", {})

    def list_retransmission_tails(
        self,
        mesh_id: str | UUID,
        *,
        minutes: int | None = None,
    ) -> list[models.MetricTailRead]:
        """Look for one retransmission timeout in each metric source of a mesh that is a duration.

        GET /v1/meshes/{mesh_id}/retransmission-tails, role viewer. Raises `ApiError` with `mesh_unknown`.
        """
        answer: list[models.MetricTailRead] = self._json("GET", f"/v1/meshes/{segment(mesh_id)}/retransmission-tails", params={"minutes": minutes})
        return answer

    def list_tail_workloads(self) -> list[models.TailWorkloadRead]:
        """List the workloads of the source with their distributions of flow sizes.

        GET /v1/advisors/tail-workloads, role viewer.
        """
        answer: list[models.TailWorkloadRead] = self._json("GET", "/v1/advisors/tail-workloads")
        return answer

    def list_traffic_shapes(self, mesh_id: str | UUID, *, minutes: int | None = None) -> list[models.VmTrafficShape]:
        """Return whether each VM of a mesh sends in bursts (as in a sort) or steadily (as in k-means), by its
        counters.

        GET /v1/meshes/{mesh_id}/traffic-shapes, role viewer. Raises `ApiError` with `mesh_unknown`.
        """
        answer: list[models.VmTrafficShape] = self._json("GET", f"/v1/meshes/{segment(mesh_id)}/traffic-shapes", params={"minutes": minutes})
        return answer

    def put_price_basis(self, application_id: str | UUID, body: models.ServiceWrite) -> models.PriceBasisRead:
        """Set the price basis of an application: recommended moves of its tasks then show their price difference.

        PUT /v1/applications/{application_id}/price-basis, role editor. Raises `ApiError` with
        `application_unknown`, `price_ambiguous`, `price_list_unknown`, `price_missing`, `price_unknown`.
        """
        answer: models.PriceBasisRead = self._json("PUT", f"/v1/applications/{segment(application_id)}/price-basis", body=body)
        return answer

    def read_bulk_run(self, run_id: str | UUID) -> models.BulkRunRead:
        """Return a trial or a run of transfers: progress, measured times, and what it did to the measured delays.

        GET /v1/bulk-runs/{run_id}, role viewer. Raises `ApiError` with `bulk_run_unknown`, `mesh_unknown`,
        `path_unknown`, `range_invalid`, `selection_invalid`, `selection_repeated`, `vm_unknown`.
        """
        answer: models.BulkRunRead = self._json("GET", f"/v1/bulk-runs/{segment(run_id)}")
        return answer

    def read_connection_timeouts(
        self,
        mesh_id: str | UUID,
        *,
        minutes: int | None = None,
    ) -> models.ConnectionTimeoutsRead:
        """Return how often TCP connections of the VMs of a mesh waited for a retransmission timeout, by peer.

        Agents report it where `tcp_connections` is set.

        GET /v1/meshes/{mesh_id}/connection-timeouts, role viewer. Raises `ApiError` with `mesh_unknown`.
        """
        answer: models.ConnectionTimeoutsRead = self._json("GET", f"/v1/meshes/{segment(mesh_id)}/connection-timeouts", params={"minutes": minutes})
        return answer

    def read_fairness(
        self,
        mesh_id: str | UUID,
        *,
        of: models.FairnessOf | None = None,
        minutes: int | None = None,
        source: str | None = None,
        target: str | None = None,
        alert_below: float | None = None,
    ) -> models.FairnessRead:
        """Return Jain's fairness index over VMs, flows of a path, applications or metric sources of a mesh.

        GET /v1/meshes/{mesh_id}/fairness, role viewer. Raises `ApiError` with `flows_unsupported`, `mesh_unknown`,
        `path_missing`, `path_unknown`, `range_invalid`, `vm_not_in_mesh`.
        """
        answer: models.FairnessRead = self._json("GET", f"/v1/meshes/{segment(mesh_id)}/fairness", params={"of": of, "minutes": minutes, "source": source, "target": target, "alert_below": alert_below})
        return answer

    def read_price_basis(self, application_id: str | UUID) -> models.PriceBasisRead:
        """Return the price basis of an application: load, response target, and what may carry it.

        GET /v1/applications/{application_id}/price-basis, role viewer. Raises `ApiError` with
        `application_unknown`, `price_basis_unknown`.
        """
        answer: models.PriceBasisRead = self._json("GET", f"/v1/applications/{segment(application_id)}/price-basis")
        return answer

    def read_price_difference(self, recommendation_id: str | UUID) -> models.PriceDifferenceRead:
        """Return how the cheapest compute mix of each moved application changes with the moves of a recommendation.

        GET /v1/recommendations/{recommendation_id}/price-difference, role viewer. Raises `ApiError` with
        `mesh_unknown`, `path_unknown`, `price_ambiguous`, `price_list_unknown`, `price_missing`, `price_unknown`,
        `range_invalid`, `recommendation_unknown`, `selection_invalid`, `selection_repeated`, `vm_unknown`.
        """
        answer: models.PriceDifferenceRead = self._json("GET", f"/v1/recommendations/{segment(recommendation_id)}/price-difference")
        return answer

    def read_price_list(self, price_list_id: str | UUID) -> models.PriceListRead:
        """Return a price list.

        GET /v1/price-lists/{price_list_id}, role viewer. Raises `ApiError` with `price_list_unknown`.
        """
        answer: models.PriceListRead = self._json("GET", f"/v1/price-lists/{segment(price_list_id)}")
        return answer

    def read_tail_study(self, study_id: str | UUID) -> models.TailStudyRead:
        """Read one study: figures, gains, curves of α and distributions of each policy.

        GET /v1/advisors/tail-studies/{study_id}, role viewer. Raises `ApiError` with `conflict`, `job_cancelled`,
        `job_not_done`, `job_output_none`, `job_unknown`, `tail_study_unknown`.
        """
        answer: models.TailStudyRead = self._json("GET", f"/v1/advisors/tail-studies/{segment(study_id)}")
        return answer

    def run_tail_study(self, body: models.TailStudyCreate, *, idempotency_key: str | None = None) -> models.JobRead:
        """Compare orders of packets at a bottleneck link as a job, α by search; its result names the study.

        The job reports its progress and can be cancelled. The study is kept as long as the job.

        POST /v1/advisors/tail-studies, role editor. Raises `ApiError` with `conflict`, `jobs_too_many`,
        `study_too_long`, `table_invalid`.
        """
        answer: models.JobRead = self._json("POST", "/v1/advisors/tail-studies", body=body, idempotency_key=idempotency_key)
        return answer

    def stop_bulk_run(self, run_id: str | UUID, *, idempotency_key: str | None = None) -> models.BulkRunRead:
        """Stop a run; what it measured so far stays.

        POST /v1/bulk-runs/{run_id}/stop, role editor. Raises `ApiError` with `bulk_run_unknown`, `conflict`,
        `mesh_unknown`, `path_unknown`, `range_invalid`, `selection_invalid`, `selection_repeated`, `vm_unknown`.
        """
        answer: models.BulkRunRead = self._json("POST", f"/v1/bulk-runs/{segment(run_id)}/stop", idempotency_key=idempotency_key)
        return answer

