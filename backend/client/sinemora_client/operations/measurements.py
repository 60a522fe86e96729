"""Operations with the tag `measurements`.

Generated from the contract by `make gen`; do not edit.
"""

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID
from typing import Literal

from sinemora_client import models
from sinemora_client.calls import Calls
from sinemora_client.transport import segment


class MeasurementsOperations(Calls):
    """Operations with the tag `measurements`."""

    def create_import(
        self,
        mesh_id: str | UUID,
        content: bytes | str,
        *,
        kind: models.TraceKind | None = None,
        times: models.TraceTimes | None = None,
        client: str | None = None,
        server: str | None = None,
        idempotency_key: str | None = None,
    ) -> models.JobRead:
        """Import an external trace into a mesh without agents. The job reports lines that it cannot read.

        POST /v1/meshes/{mesh_id}/imports, role editor. Raises `ApiError` with `conflict`, `database_busy`,
        `database_full`, `database_role_unconfined`, `database_unavailable`, `jobs_too_many`, `mesh_is_live`,
        `mesh_unknown`, `trace_empty`, `trace_ends_missing`, `trace_out_of_range`, `trace_unreadable`,
        `vm_has_agent`.
        """
        answer: models.JobRead = self._json("POST", f"/v1/meshes/{segment(mesh_id)}/imports", params={"kind": kind, "times": times, "client": client, "server": server}, content=content, media_type="text/csv", idempotency_key=idempotency_key)
        return answer

    def create_on_demand_measurement(
        self,
        body: models.OnDemandCreate,
        *,
        idempotency_key: str | None = None,
    ) -> models.OnDemandRead:
        """Measure one pair now, at up to 128 exchanges per second for up to a minute. It starts within four seconds.

        The live stream of the mesh carries each second as `event: on_demand`; data: `{id, window}`.

        POST /v1/on-demand-measurements, role editor. Raises `ApiError` with `conflict`, `mesh_unknown`,
        `on_demand_agent_silent`, `on_demand_agent_too_old`, `on_demand_no_agent`, `on_demand_pair_busy`,
        `on_demand_too_many`, `path_unknown`, `vm_unknown`.
        """
        answer: models.OnDemandRead = self._json("POST", "/v1/on-demand-measurements", body=body, idempotency_key=idempotency_key)
        return answer

    def export_exchanges(self, measurement_id: str | UUID) -> str:
        """Return every exchange of a measurement as CSV. An empty field is not measured, or unknown.

        GET /v1/on-demand-measurements/{measurement_id}/exchanges, role viewer. Raises `ApiError` with
        `on_demand_measurement_unknown`.
        """
        answer: str = self._text("GET", f"/v1/on-demand-measurements/{segment(measurement_id)}/exchanges")
        return answer

    def export_windows(
        self,
        mesh_id: str | UUID,
        *,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        format: models.Format | None = None,
        selections: list[str] | None = None,
        metric: Literal["one_way_delay", "round_trip"] | None = None,
        merged: bool | None = None,
    ) -> bytes | models.JobRead:
        """Export all windows of paths as rows, NDJSON by default.

        GET /v1/meshes/{mesh_id}/windows, role viewer. Raises `ApiError` with `aged_data_unavailable`, `conflict`,
        `database_busy`, `database_full`, `database_role_unconfined`, `database_unavailable`,
        `estimates_unsupported`, `flows_unsupported`, `format_unsupported`, `jobs_too_many`, `mesh_unknown`,
        `path_unknown`, `range_invalid`, `range_too_large`, `selection_invalid`, `selection_repeated`,
        `statistic_unsupported`, `vm_unknown`, `zone_unknown`.
        """
        answer: bytes | models.JobRead = self._bytes("GET", f"/v1/meshes/{segment(mesh_id)}/windows", params={"from": from_, "to": to, "format": format, "selections": selections, "metric": metric, "merged": merged})
        return answer

    def list_deviations(
        self,
        mesh_id: str | UUID,
        *,
        by: models.By | None = None,
        limit: int | None = None,
    ) -> models.DeviationsRead:
        """List the paths or zone pairs outside the dead band of their baseline, most unusual first, and since when.

        GET /v1/meshes/{mesh_id}/deviations, role viewer. Raises `ApiError` with `aged_data_unavailable`,
        `database_busy`, `database_full`, `database_role_unconfined`, `database_unavailable`, `flows_unsupported`,
        `mesh_unknown`, `range_invalid`.
        """
        answer: models.DeviationsRead = self._json("GET", f"/v1/meshes/{segment(mesh_id)}/deviations", params={"by": by, "limit": limit})
        return answer

    def list_on_demand_measurements(
        self,
        *,
        mesh_id: str | UUID | None = None,
        source_vm_id: str | UUID | None = None,
        target_vm_id: str | UUID | None = None,
    ) -> Iterator[models.OnDemandRead]:
        """List the measurements on demand, newest first. The newest 200 of a tenant are kept for 30 days.

        GET /v1/on-demand-measurements, role viewer. Raises `ApiError` with `mesh_unknown`, `vm_unknown`.
        """
        return self._items("/v1/on-demand-measurements", {"mesh_id": mesh_id, "source_vm_id": source_vm_id, "target_vm_id": target_vm_id})

    def list_spikes(
        self,
        mesh_id: str | UUID,
        *,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        source_vm_id: str | UUID | None = None,
        target_vm_id: str | UUID | None = None,
        source_zone_id: str | UUID | None = None,
        target_zone_id: str | UUID | None = None,
        rise_ns_min: int | None = None,
    ) -> Iterator[models.SpikeRead]:
        """List spikes of delay, newest first; by default those of the last day. A file has all of them.

        GET /v1/meshes/{mesh_id}/spikes, role viewer. Raises `ApiError` with `aged_data_unavailable`, `conflict`,
        `database_busy`, `database_full`, `database_role_unconfined`, `database_unavailable`,
        `estimates_unsupported`, `flows_unsupported`, `format_unsupported`, `jobs_too_many`, `mesh_unknown`,
        `path_unknown`, `range_invalid`, `range_too_large`, `selection_invalid`, `selection_repeated`,
        `statistic_unsupported`, `vm_unknown`, `zone_unknown`.
        """
        return self._items(f"/v1/meshes/{segment(mesh_id)}/spikes", {"from": from_, "to": to, "source_vm_id": source_vm_id, "target_vm_id": target_vm_id, "source_zone_id": source_zone_id, "target_zone_id": target_zone_id, "rise_ns_min": rise_ns_min})

    def list_vm_clock_errors(
        self,
        vm_id: str | UUID,
        *,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        points: int | None = None,
    ) -> models.VmClocksRead:
        """Return the clock errors of a VM over time in each of its meshes, from those of its outbound paths.

        GET /v1/vms/{vm_id}/clock-errors, role viewer. Raises `ApiError` with `mesh_unknown`, `range_invalid`,
        `vm_unknown`.
        """
        answer: models.VmClocksRead = self._json("GET", f"/v1/vms/{segment(vm_id)}/clock-errors", params={"from": from_, "to": to, "points": points})
        return answer

    def list_vm_paths(self, vm_id: str | UUID, *, limit: int | None = None) -> models.VmPathsRead:
        """List the paths from and to a VM in each of its meshes, worst first, with what they usually take.

        GET /v1/vms/{vm_id}/paths, role viewer. Raises `ApiError` with `flows_unsupported`, `mesh_unknown`,
        `range_invalid`, `vm_unknown`.
        """
        answer: models.VmPathsRead = self._json("GET", f"/v1/vms/{segment(vm_id)}/paths", params={"limit": limit})
        return answer

    def list_vm_traffic(
        self,
        vm_id: str | UUID,
        *,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        points: int | None = None,
    ) -> models.VmTrafficRead:
        """Return the rates of a VM's network interface over time, by its agent's counters of bytes and packets.

        GET /v1/vms/{vm_id}/traffic, role viewer. Raises `ApiError` with `range_invalid`, `vm_unknown`.
        """
        answer: models.VmTrafficRead = self._json("GET", f"/v1/vms/{segment(vm_id)}/traffic", params={"from": from_, "to": to, "points": points})
        return answer

    def read_aged_measurements(self) -> models.AgedRead:
        """Return which old measurements are in object storage, by mesh and tier, and the newest run of ageing.

        GET /v1/aged-measurements, role viewer. Raises `ApiError` with `database_busy`, `database_full`,
        `database_role_unconfined`, `database_unavailable`.
        """
        answer: models.AgedRead = self._json("GET", "/v1/aged-measurements")
        return answer

    def read_comparison(
        self,
        mesh_id: str | UUID,
        *,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        by: models.By | None = None,
        statistic: models.Statistic | None = None,
        metric: models.Metric | None = None,
        base_from: str | datetime | None = None,
        base_to: str | datetime | None = None,
        difference: models.Order | None = None,
    ) -> models.ComparisonRead | models.JobRead:
        """Compare all paths between two ranges; as octets: codes of the difference around 32,768.

        GET /v1/meshes/{mesh_id}/comparison, role viewer. Raises `ApiError` with `aged_data_unavailable`,
        `conflict`, `database_busy`, `database_full`, `database_role_unconfined`, `database_unavailable`,
        `estimates_unsupported`, `flows_unsupported`, `format_unsupported`, `jobs_too_many`, `mesh_unknown`,
        `path_unknown`, `range_invalid`, `range_too_large`, `selection_invalid`, `selection_repeated`,
        `statistic_unsupported`, `vm_unknown`, `zone_unknown`.
        """
        answer: models.ComparisonRead | models.JobRead = self._json("GET", f"/v1/meshes/{segment(mesh_id)}/comparison", params={"from": from_, "to": to, "by": by, "statistic": statistic, "metric": metric, "base_from": base_from, "base_to": base_to, "difference": difference}, as_json=True)
        return answer

    def read_deviation(
        self,
        mesh_id: str | UUID,
        source_id: str | UUID,
        target_id: str | UUID,
        *,
        by: models.By | None = None,
    ) -> models.DeviationRead:
        """Return the newest value of a path between VMs (or zones) with its baseline and deviation.

        GET /v1/meshes/{mesh_id}/deviations/{source_id}/{target_id}, role viewer. Raises `ApiError` with
        `aged_data_unavailable`, `database_busy`, `database_full`, `database_role_unconfined`,
        `database_unavailable`, `flows_unsupported`, `mesh_unknown`, `path_unknown`, `range_invalid`.
        """
        answer: models.DeviationRead = self._json("GET", f"/v1/meshes/{segment(mesh_id)}/deviations/{segment(source_id)}/{segment(target_id)}", params={"by": by})
        return answer

    def read_distribution(
        self,
        mesh_id: str | UUID,
        *,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        selections: list[str] | None = None,
        metric: Literal["one_way_delay", "round_trip"] | None = None,
    ) -> models.DistributionRead | models.JobRead:
        """Return the delays of selections as histogram and cumulative distribution.

        GET /v1/meshes/{mesh_id}/distribution, role viewer. Raises `ApiError` with `aged_data_unavailable`,
        `conflict`, `database_busy`, `database_full`, `database_role_unconfined`, `database_unavailable`,
        `estimates_unsupported`, `flows_unsupported`, `format_unsupported`, `jobs_too_many`, `mesh_unknown`,
        `path_unknown`, `range_invalid`, `range_too_large`, `selection_invalid`, `selection_repeated`,
        `statistic_unsupported`, `vm_unknown`, `zone_unknown`.
        """
        answer: models.DistributionRead | models.JobRead = self._json("GET", f"/v1/meshes/{segment(mesh_id)}/distribution", params={"from": from_, "to": to, "selections": selections, "metric": metric}, as_json=True)
        return answer

    def read_latency_budgets(
        self,
        mesh_id: str | UUID,
        *,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        selections: list[str] | None = None,
        metric: Literal["one_way_delay", "round_trip"] | None = None,
        distance_km: float | None = None,
    ) -> models.LatencyBudgetsRead | models.JobRead:
        """Return the shares of the delays of selections: propagation and processing, queueing; and published delays.

        GET /v1/meshes/{mesh_id}/latency-budgets, role viewer. Raises `ApiError` with `aged_data_unavailable`,
        `conflict`, `database_busy`, `database_full`, `database_role_unconfined`, `database_unavailable`,
        `estimates_unsupported`, `flows_unsupported`, `format_unsupported`, `jobs_too_many`, `mesh_unknown`,
        `path_unknown`, `range_invalid`, `range_too_large`, `selection_invalid`, `selection_repeated`,
        `statistic_unsupported`, `vm_unknown`, `zone_unknown`.
        """
        answer: models.LatencyBudgetsRead | models.JobRead = self._json("GET", f"/v1/meshes/{segment(mesh_id)}/latency-budgets", params={"from": from_, "to": to, "selections": selections, "metric": metric, "distance_km": distance_km}, as_json=True)
        return answer

    def read_losses(
        self,
        mesh_id: str | UUID,
        *,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        selections: list[str] | None = None,
        interval: Literal["1h", "1d"] | None = None,
    ) -> models.LossRead | models.JobRead:
        """Return loss by hour or day, and the distribution of the loss ratios of paths.

        GET /v1/meshes/{mesh_id}/losses, role viewer. Raises `ApiError` with `aged_data_unavailable`, `conflict`,
        `database_busy`, `database_full`, `database_role_unconfined`, `database_unavailable`,
        `estimates_unsupported`, `flows_unsupported`, `format_unsupported`, `jobs_too_many`, `mesh_unknown`,
        `path_unknown`, `range_invalid`, `range_too_large`, `selection_invalid`, `selection_repeated`,
        `statistic_unsupported`, `vm_unknown`, `zone_unknown`.
        """
        answer: models.LossRead | models.JobRead = self._json("GET", f"/v1/meshes/{segment(mesh_id)}/losses", params={"from": from_, "to": to, "selections": selections, "interval": interval}, as_json=True)
        return answer

    def read_many_series(
        self,
        mesh_id: str | UUID,
        *,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        selections: list[str] | None = None,
        metric: models.Metric | None = None,
        statistics: list[models.Statistic] | None = None,
        points: int | None = None,
    ) -> models.ManySeriesRead | models.JobRead:
        """Return time series of many paths, zone pairs or the whole mesh. Steps without data are null.

        GET /v1/meshes/{mesh_id}/series, role viewer. Raises `ApiError` with `aged_data_unavailable`, `conflict`,
        `database_busy`, `database_full`, `database_role_unconfined`, `database_unavailable`,
        `estimates_unsupported`, `flows_unsupported`, `format_unsupported`, `jobs_too_many`, `mesh_unknown`,
        `path_unknown`, `range_invalid`, `range_too_large`, `selection_invalid`, `selection_repeated`,
        `statistic_unsupported`, `vm_unknown`, `zone_unknown`.
        """
        answer: models.ManySeriesRead | models.JobRead = self._json("GET", f"/v1/meshes/{segment(mesh_id)}/series", params={"from": from_, "to": to, "selections": selections, "metric": metric, "statistics": statistics, "points": points}, as_json=True)
        return answer

    def read_many_series_of_body(
        self,
        mesh_id: str | UUID,
        body: models.SeriesRequest,
    ) -> models.ManySeriesRead | models.JobRead:
        """Return time series of selections that are too many for a URL. This changes nothing.

        POST /v1/meshes/{mesh_id}/series, role viewer. Raises `ApiError` with `aged_data_unavailable`, `conflict`,
        `database_busy`, `database_full`, `database_role_unconfined`, `database_unavailable`,
        `estimates_unsupported`, `flows_unsupported`, `format_unsupported`, `jobs_too_many`, `mesh_unknown`,
        `path_unknown`, `range_invalid`, `range_too_large`, `selection_invalid`, `selection_repeated`,
        `statistic_unsupported`, `vm_unknown`, `zone_unknown`.
        """
        answer: models.ManySeriesRead | models.JobRead = self._json("POST", f"/v1/meshes/{segment(mesh_id)}/series", body=body, as_json=True)
        return answer

    def read_matrix(
        self,
        mesh_id: str | UUID,
        *,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        by: models.By | None = None,
        statistic: models.Statistic | None = None,
        metric: models.Metric | Literal["deviation"] | None = None,
        more: list[models.Statistic] | None = None,
        flows: models.Flows | None = None,
        estimates: bool | None = None,
    ) -> models.MatrixRead | models.JobRead:
        """Return the matrix of all paths of a mesh; as octets: 16-bit codes and states (layout in docs/api).

        GET /v1/meshes/{mesh_id}/matrix, role viewer. Raises `ApiError` with `aged_data_unavailable`, `conflict`,
        `database_busy`, `database_full`, `database_role_unconfined`, `database_unavailable`,
        `estimates_unsupported`, `flows_unsupported`, `format_unsupported`, `jobs_too_many`, `mesh_unknown`,
        `path_unknown`, `range_invalid`, `range_too_large`, `selection_invalid`, `selection_repeated`,
        `statistic_unsupported`, `vm_unknown`, `zone_unknown`.
        """
        answer: models.MatrixRead | models.JobRead = self._json("GET", f"/v1/meshes/{segment(mesh_id)}/matrix", params={"from": from_, "to": to, "by": by, "statistic": statistic, "metric": metric, "more": more, "flows": flows, "estimates": estimates}, as_json=True)
        return answer

    def read_movers(
        self,
        mesh_id: str | UUID,
        *,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        by: models.By | None = None,
        statistic: models.Statistic | None = None,
        metric: models.Metric | None = None,
        base_from: str | datetime | None = None,
        base_to: str | datetime | None = None,
        difference: models.Order | None = None,
        order: models.Order | None = None,
        limit: int | None = None,
    ) -> models.MoversRead | models.JobRead:
        """List the paths that changed most between two ranges.

        GET /v1/meshes/{mesh_id}/movers, role viewer. Raises `ApiError` with `aged_data_unavailable`, `conflict`,
        `database_busy`, `database_full`, `database_role_unconfined`, `database_unavailable`,
        `estimates_unsupported`, `flows_unsupported`, `format_unsupported`, `jobs_too_many`, `mesh_unknown`,
        `path_unknown`, `range_invalid`, `range_too_large`, `selection_invalid`, `selection_repeated`,
        `statistic_unsupported`, `vm_unknown`, `zone_unknown`.
        """
        answer: models.MoversRead | models.JobRead = self._json("GET", f"/v1/meshes/{segment(mesh_id)}/movers", params={"from": from_, "to": to, "by": by, "statistic": statistic, "metric": metric, "base_from": base_from, "base_to": base_to, "difference": difference, "order": order, "limit": limit}, as_json=True)
        return answer

    def read_on_demand_measurement(self, measurement_id: str | UUID) -> models.OnDemandResult:
        """Return a measurement on demand with its seconds so far.

        GET /v1/on-demand-measurements/{measurement_id}, role viewer. Raises `ApiError` with `mesh_unknown`,
        `on_demand_measurement_unknown`.
        """
        answer: models.OnDemandResult = self._json("GET", f"/v1/on-demand-measurements/{segment(measurement_id)}")
        return answer

    def read_path(
        self,
        mesh_id: str | UUID,
        source_vm_id: str | UUID,
        target_vm_id: str | UUID,
        *,
        estimate: bool | None = None,
    ) -> models.PathRead:
        """Return the newest window of a path: both directions and the round trip.

        GET /v1/meshes/{mesh_id}/paths/{source_vm_id}/{target_vm_id}, role viewer. Raises `ApiError` with
        `aged_data_unavailable`, `database_busy`, `database_full`, `database_role_unconfined`,
        `database_unavailable`, `flows_unsupported`, `mesh_unknown`, `path_unknown`, `range_invalid`.
        """
        answer: models.PathRead = self._json("GET", f"/v1/meshes/{segment(mesh_id)}/paths/{segment(source_vm_id)}/{segment(target_vm_id)}", params={"estimate": estimate})
        return answer

    def read_series(
        self,
        mesh_id: str | UUID,
        source_vm_id: str | UUID,
        target_vm_id: str | UUID,
        *,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        resolution: models.Resolution | None = None,
        statistic: models.Statistic | None = None,
    ) -> models.SeriesRead:
        """Return the time series of a path. Steps without data are null.

        GET /v1/meshes/{mesh_id}/paths/{source_vm_id}/{target_vm_id}/series, role viewer. Raises `ApiError` with
        `aged_data_unavailable`, `conflict`, `database_busy`, `database_full`, `database_role_unconfined`,
        `database_unavailable`, `mesh_unknown`, `path_unknown`, `range_invalid`, `range_too_large`.
        """
        answer: models.SeriesRead = self._json("GET", f"/v1/meshes/{segment(mesh_id)}/paths/{segment(source_vm_id)}/{segment(target_vm_id)}/series", params={"from": from_, "to": to, "resolution": resolution, "statistic": statistic})
        return answer

    def read_spike(self, mesh_id: str | UUID, spike_id: str | UUID) -> models.SpikeEvidence:
        """Return a spike with the raw exchanges around it.

        GET /v1/meshes/{mesh_id}/spikes/{spike_id}, role viewer. Raises `ApiError` with `database_busy`,
        `database_full`, `database_role_unconfined`, `database_unavailable`, `mesh_unknown`, `spike_unknown`.
        """
        answer: models.SpikeEvidence = self._json("GET", f"/v1/meshes/{segment(mesh_id)}/spikes/{segment(spike_id)}")
        return answer

    def read_variability(
        self,
        mesh_id: str | UUID,
        *,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        selections: list[str] | None = None,
        metric: Literal["one_way_delay", "round_trip"] | None = None,
        intervals: list[Literal["1m", "10m", "1h"]] | None = None,
    ) -> models.VariabilityRead | models.JobRead:
        """Return the distributions over paths of the standard deviation within a minute, ten minutes, an hour.

        GET /v1/meshes/{mesh_id}/variability, role viewer. Raises `ApiError` with `aged_data_unavailable`,
        `conflict`, `database_busy`, `database_full`, `database_role_unconfined`, `database_unavailable`,
        `estimates_unsupported`, `flows_unsupported`, `format_unsupported`, `jobs_too_many`, `mesh_unknown`,
        `path_unknown`, `range_invalid`, `range_too_large`, `selection_invalid`, `selection_repeated`,
        `statistic_unsupported`, `vm_unknown`, `zone_unknown`.
        """
        answer: models.VariabilityRead | models.JobRead = self._json("GET", f"/v1/meshes/{segment(mesh_id)}/variability", params={"from": from_, "to": to, "selections": selections, "metric": metric, "intervals": intervals}, as_json=True)
        return answer

    def read_worst_paths(
        self,
        mesh_id: str | UUID,
        *,
        metric: models.Metric | None = None,
        statistic: models.Statistic | None = None,
        limit: int | None = None,
    ) -> models.WorstPaths:
        """List the paths with the highest current values.

        GET /v1/meshes/{mesh_id}/worst-paths, role viewer. Raises `ApiError` with `aged_data_unavailable`,
        `database_busy`, `database_full`, `database_role_unconfined`, `database_unavailable`, `flows_unsupported`,
        `mesh_unknown`, `range_invalid`.
        """
        answer: models.WorstPaths = self._json("GET", f"/v1/meshes/{segment(mesh_id)}/worst-paths", params={"metric": metric, "statistic": statistic, "limit": limit})
        return answer

    def stop_on_demand_measurement(
        self,
        measurement_id: str | UUID,
        *,
        idempotency_key: str | None = None,
    ) -> models.OnDemandRead:
        """Stop a measurement on demand; its seconds so far stay.

        POST /v1/on-demand-measurements/{measurement_id}/stop, role editor. Raises `ApiError` with `conflict`,
        `mesh_unknown`, `on_demand_measurement_unknown`.
        """
        answer: models.OnDemandRead = self._json("POST", f"/v1/on-demand-measurements/{segment(measurement_id)}/stop", idempotency_key=idempotency_key)
        return answer

