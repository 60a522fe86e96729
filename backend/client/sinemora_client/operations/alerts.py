"""Operations with the tag `alerts`.

Generated from the contract by `make gen`; do not edit.
"""

from collections.abc import Iterator
from uuid import UUID
from typing import Literal

from sinemora_client import models
from sinemora_client.calls import Calls
from sinemora_client.transport import segment


class AlertsOperations(Calls):
    """Operations with the tag `alerts`."""

    def acknowledge_incident(
        self,
        incident_id: str | UUID,
        body: models.Note,
        *,
        version: int | Literal["*"] | None = None,
        idempotency_key: str | None = None,
    ) -> models.IncidentRead:
        """Acknowledge an incident: its notifications are no longer repeated.

        POST /v1/incidents/{incident_id}/acknowledge, role editor. Raises `ApiError` with `conflict`,
        `if_match_weak`, `incident_state_conflict`, `incident_unknown`, `mesh_unknown`, `secret_key_missing`,
        `secret_unreadable`, `version_changed`.
        """
        answer: models.IncidentRead = self._json("POST", f"/v1/incidents/{segment(incident_id)}/acknowledge", body=body, version=version, idempotency_key=idempotency_key)
        return answer

    def assign_incident(
        self,
        incident_id: str | UUID,
        body: models.Assignment,
        *,
        version: int | Literal["*"],
    ) -> models.IncidentRead:
        """Assign an incident to a person; null: to no one.

        PUT /v1/incidents/{incident_id}/assignees, role editor. Raises `ApiError` with `if_match_weak`,
        `incident_unknown`, `version_changed`.
        """
        answer: models.IncidentRead = self._json("PUT", f"/v1/incidents/{segment(incident_id)}/assignees", body=body, version=version)
        return answer

    def create_alert_back_test(
        self,
        body: models.BackTestCreate,
        *,
        idempotency_key: str | None = None,
    ) -> models.JobRead:
        """Back-test a rule on stored windows; the job's result lists the incidents it would have created.

        POST /v1/alert-back-tests, role editor. Raises `ApiError` with `conflict`, `jobs_too_many`, `mesh_unknown`.
        """
        answer: models.JobRead = self._json("POST", "/v1/alert-back-tests", body=body, idempotency_key=idempotency_key)
        return answer

    def create_alert_rule(self, body: models.RuleCreate, *, idempotency_key: str | None = None) -> models.RuleRead:
        """Add a rule to a mesh.

        POST /v1/alert-rules, role editor. Raises `ApiError` with `alert_rule_name_taken`, `conflict`,
        `mesh_unknown`.
        """
        answer: models.RuleRead = self._json("POST", "/v1/alert-rules", body=body, idempotency_key=idempotency_key)
        return answer

    def create_incident_note(
        self,
        incident_id: str | UUID,
        body: models.Note,
        *,
        idempotency_key: str | None = None,
    ) -> models.IncidentRead:
        """Add a note to the timeline.

        POST /v1/incidents/{incident_id}/notes, role editor. Raises `ApiError` with `conflict`, `incident_unknown`.
        """
        answer: models.IncidentRead = self._json("POST", f"/v1/incidents/{segment(incident_id)}/notes", body=body, idempotency_key=idempotency_key)
        return answer

    def create_receiver(
        self,
        body: models.ReceiverFields,
        *,
        idempotency_key: str | None = None,
    ) -> models.ReceiverRead:
        """Create a receiver; it gets no notifications until a route names it.

        POST /v1/receivers, role editor. Raises `ApiError` with `conflict`, `receiver_invalid`,
        `receiver_name_taken`, `secret_key_missing`.
        """
        answer: models.ReceiverRead = self._json("POST", "/v1/receivers", body=body, idempotency_key=idempotency_key)
        return answer

    def create_silence(self, body: models.SilenceCreate, *, idempotency_key: str | None = None) -> models.SilenceRead:
        """Create a silence: matching incidents are still created, without notifications.

        POST /v1/silences, role editor. Raises `ApiError` with `conflict`, `range_invalid`.
        """
        answer: models.SilenceRead = self._json("POST", "/v1/silences", body=body, idempotency_key=idempotency_key)
        return answer

    def delete_alert_rule(self, rule_id: str | UUID, *, version: int | Literal["*"] | None = None) -> None:
        """Delete a rule; its incidents stay.

        DELETE /v1/alert-rules/{rule_id}, role editor. Raises `ApiError` with `alert_rule_unknown`, `if_match_weak`,
        `version_changed`.
        """
        self._json("DELETE", f"/v1/alert-rules/{segment(rule_id)}", version=version)

    def delete_receiver(self, receiver_id: str | UUID, *, version: int | Literal["*"] | None = None) -> None:
        """Delete a receiver with its deliveries.

        DELETE /v1/receivers/{receiver_id}, role editor. Raises `ApiError` with `if_match_weak`, `receiver_unknown`,
        `version_changed`.
        """
        self._json("DELETE", f"/v1/receivers/{segment(receiver_id)}", version=version)

    def end_silence(self, silence_id: str | UUID) -> None:
        """End a silence now.

        DELETE /v1/silences/{silence_id}, role editor. Raises `ApiError` with `silence_unknown`.
        """
        self._json("DELETE", f"/v1/silences/{segment(silence_id)}")

    def export_alert_rules(self, *, mesh_id: str | UUID) -> str:
        """Export the rules of a mesh as one YAML document, which `POST /v1/alert-rules/manifest` accepts.

        GET /v1/alert-rules/manifest, role viewer. Raises `ApiError` with `mesh_unknown`.
        """
        answer: str = self._text("GET", "/v1/alert-rules/manifest", params={"mesh_id": mesh_id})
        return answer

    def import_alert_rules(
        self,
        content: bytes | str,
        *,
        mesh_id: str | UUID,
        idempotency_key: str | None = None,
    ) -> models.RulesImported:
        """Import rules of a mesh from a YAML document: new ones are created, others changed, omitted ones stay.

        POST /v1/alert-rules/manifest, role editor. Raises `ApiError` with `alert_rule_name_taken`,
        `alert_rule_unknown`, `conflict`, `if_match_weak`, `manifest_invalid`, `mesh_unknown`,
        `rule_windows_invalid`, `version_changed`.
        """
        answer: models.RulesImported = self._json("POST", "/v1/alert-rules/manifest", params={"mesh_id": mesh_id}, content=content, media_type="application/yaml", idempotency_key=idempotency_key)
        return answer

    def list_alert_rules(self, *, mesh_id: str | UUID | None = None) -> Iterator[models.RuleRead]:
        """List rules by name.

        GET /v1/alert-rules, role viewer. Raises `ApiError` with `mesh_unknown`.
        """
        return self._items("/v1/alert-rules", {"mesh_id": mesh_id})

    def list_deliveries(self, *, incident_id: str | UUID | None = None) -> Iterator[models.DeliveryRead]:
        """List deliveries of notifications, newest first: sent, waiting, failed with the reason.

        GET /v1/deliveries, role viewer. Raises `ApiError` with `incident_unknown`.
        """
        return self._items("/v1/deliveries", {"incident_id": incident_id})

    def list_incidents(
        self,
        *,
        mesh_id: str | UUID | None = None,
        state: list[models.IncidentState] | None = None,
        severity: list[models.Severity] | None = None,
    ) -> Iterator[models.IncidentSummary]:
        """List incidents, newest first, without those merged into others.

        GET /v1/incidents, role viewer. Raises `ApiError` with `mesh_unknown`.
        """
        return self._items("/v1/incidents", {"mesh_id": mesh_id, "state": state, "severity": severity})

    def list_receivers(self) -> Iterator[models.ReceiverRead]:
        """List receivers by name, without their secrets.

        GET /v1/receivers, role viewer.
        """
        return self._items("/v1/receivers", {})

    def list_silences(self) -> Iterator[models.SilenceRead]:
        """List silences, latest end first, including past ones.

        GET /v1/silences, role viewer.
        """
        return self._items("/v1/silences", {})

    def preview_alert_rule(self, body: models.RulePreviewCreate) -> models.RulePreview:
        """Evaluate a rule on one path: its values, the limit, and when it would fire. Nothing is saved.

        POST /v1/alert-rule-previews, role viewer. Raises `ApiError` with `conflict`, `mesh_unknown`,
        `path_unknown`, `preview_unsupported`, `range_invalid`, `range_too_large`.
        """
        answer: models.RulePreview = self._json("POST", "/v1/alert-rule-previews", body=body)
        return answer

    def preview_silence(self, body: models.SilenceCreate) -> models.SilencePreview:
        """List the incidents of the last week that a silence would have matched. Nothing is saved.

        POST /v1/silence-previews, role viewer. Raises `ApiError` with `mesh_unknown`, `range_invalid`.
        """
        answer: models.SilencePreview = self._json("POST", "/v1/silence-previews", body=body)
        return answer

    def read_alert_routes(self) -> models.RoutingRead:
        """Read the routing tree.

        GET /v1/alert-routes, role viewer.
        """
        answer: models.RoutingRead = self._json("GET", "/v1/alert-routes")
        return answer

    def read_alert_rule(self, rule_id: str | UUID) -> models.RuleRead:
        """Read one rule.

        GET /v1/alert-rules/{rule_id}, role viewer. Raises `ApiError` with `alert_rule_unknown`.
        """
        answer: models.RuleRead = self._json("GET", f"/v1/alert-rules/{segment(rule_id)}")
        return answer

    def read_incident(self, incident_id: str | UUID) -> models.IncidentRead:
        """Read one incident: its suspect with the evidence, affected applications, timeline, similar earlier
        incidents.

        GET /v1/incidents/{incident_id}, role viewer. Raises `ApiError` with `incident_unknown`.
        """
        answer: models.IncidentRead = self._json("GET", f"/v1/incidents/{segment(incident_id)}")
        return answer

    def read_incident_evidence(self, incident_id: str | UUID) -> models.SignedEvidence:
        """Return the evidence of an incident for its provider: a self-contained report with a signature.

        GET /v1/incidents/{incident_id}/evidence, role viewer. Raises `ApiError` with `conflict`,
        `incident_unknown`, `mesh_unknown`, `range_invalid`, `secret_key_missing`, `vm_unknown`.
        """
        answer: models.SignedEvidence = self._json("GET", f"/v1/incidents/{segment(incident_id)}/evidence")
        return answer

    def read_receiver(self, receiver_id: str | UUID) -> models.ReceiverRead:
        """Read one receiver, without its secret.

        GET /v1/receivers/{receiver_id}, role viewer. Raises `ApiError` with `receiver_unknown`.
        """
        answer: models.ReceiverRead = self._json("GET", f"/v1/receivers/{segment(receiver_id)}")
        return answer

    def read_silence(self, silence_id: str | UUID) -> models.SilenceRead:
        """Read one silence.

        GET /v1/silences/{silence_id}, role viewer. Raises `ApiError` with `silence_unknown`.
        """
        answer: models.SilenceRead = self._json("GET", f"/v1/silences/{segment(silence_id)}")
        return answer

    def redeliver(self, delivery_id: str | UUID, *, idempotency_key: str | None = None) -> models.DeliveryRead:
        """Send a delivery that was sent or has failed once more, with its first id (`webhook-id`) and present facts.

        POST /v1/deliveries/{delivery_id}/redeliver, role editor. Raises `ApiError` with `conflict`,
        `delivery_unknown`, `delivery_waits`, `notifications_too_many`, `receiver_unknown`, `secret_key_missing`,
        `secret_unreadable`.
        """
        answer: models.DeliveryRead = self._json("POST", f"/v1/deliveries/{segment(delivery_id)}/redeliver", idempotency_key=idempotency_key)
        return answer

    def reopen_incident(
        self,
        incident_id: str | UUID,
        body: models.Note,
        *,
        version: int | Literal["*"] | None = None,
        idempotency_key: str | None = None,
    ) -> models.IncidentRead:
        """Reopen a resolved incident.

        POST /v1/incidents/{incident_id}/reopen, role editor. Raises `ApiError` with `conflict`, `if_match_weak`,
        `incident_state_conflict`, `incident_unknown`, `mesh_unknown`, `secret_key_missing`, `secret_unreadable`,
        `version_changed`.
        """
        answer: models.IncidentRead = self._json("POST", f"/v1/incidents/{segment(incident_id)}/reopen", body=body, version=version, idempotency_key=idempotency_key)
        return answer

    def resolve_incident(
        self,
        incident_id: str | UUID,
        body: models.Note,
        *,
        version: int | Literal["*"] | None = None,
        idempotency_key: str | None = None,
    ) -> models.IncidentRead:
        """Resolve an incident.

        POST /v1/incidents/{incident_id}/resolve, role editor. Raises `ApiError` with `conflict`, `if_match_weak`,
        `incident_state_conflict`, `incident_unknown`, `mesh_unknown`, `secret_key_missing`, `secret_unreadable`,
        `version_changed`.
        """
        answer: models.IncidentRead = self._json("POST", f"/v1/incidents/{segment(incident_id)}/resolve", body=body, version=version, idempotency_key=idempotency_key)
        return answer

    def test_receiver(self, receiver_id: str | UUID, *, idempotency_key: str | None = None) -> models.DeliveryRead:
        """Send a test notification; its result is in the log of deliveries.

        POST /v1/receivers/{receiver_id}/tests, role editor. Raises `ApiError` with `conflict`,
        `notifications_too_many`, `receiver_unknown`, `secret_key_missing`, `secret_unreadable`.
        """
        answer: models.DeliveryRead = self._json("POST", f"/v1/receivers/{segment(receiver_id)}/tests", idempotency_key=idempotency_key)
        return answer

    def update_alert_rule(
        self,
        rule_id: str | UUID,
        body: models.RuleUpdate,
        *,
        version: int | Literal["*"],
    ) -> models.RuleRead:
        """Change a rule.

        PATCH /v1/alert-rules/{rule_id}, role editor. Raises `ApiError` with `alert_rule_name_taken`,
        `alert_rule_unknown`, `conflict`, `if_match_required`, `if_match_weak`, `rule_windows_invalid`,
        `version_changed`.
        """
        answer: models.RuleRead = self._json("PATCH", f"/v1/alert-rules/{segment(rule_id)}", body=body, version=version)
        return answer

    def update_receiver(
        self,
        receiver_id: str | UUID,
        body: models.ReceiverUpdate,
        *,
        version: int | Literal["*"],
    ) -> models.ReceiverRead:
        """Change a receiver; an omitted secret stays.

        PATCH /v1/receivers/{receiver_id}, role editor. Raises `ApiError` with `conflict`, `if_match_required`,
        `if_match_weak`, `receiver_invalid`, `receiver_name_taken`, `receiver_unknown`, `secret_key_missing`,
        `secret_needed_again`, `secret_unreadable`, `version_changed`.
        """
        answer: models.ReceiverRead = self._json("PATCH", f"/v1/receivers/{segment(receiver_id)}", body=body, version=version)
        return answer

    def write_alert_routes(self, body: models.RoutingWrite, *, version: int | Literal["*"]) -> models.RoutingRead:
        """Replace the routing tree.

        PUT /v1/alert-routes, role editor. Raises `ApiError` with `if_match_weak`, `receiver_unknown`,
        `routes_too_deep`, `version_changed`.
        """
        answer: models.RoutingRead = self._json("PUT", "/v1/alert-routes", body=body, version=version)
        return answer

