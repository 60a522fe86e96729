"""Metrics of a gateway; names begin with `sinemora_gateway_`."""

from prometheus_client import Counter, Gauge

QUEUE_REPORTS = Gauge("sinemora_gateway_queue_reports", "Reports in the queue on disk")
QUEUE_BYTES = Gauge("sinemora_gateway_queue_bytes", "Bytes of the reports in the queue")
QUEUE_CAPACITY = Gauge("sinemora_gateway_queue_capacity_bytes", "Largest size of the queue")
OLDEST_AGE = Gauge("sinemora_gateway_queue_oldest_age_seconds", "Age of the oldest report in the queue, 0 without one")
DISK_WAITING = Gauge("sinemora_gateway_disk_waiting", "Changes that wait to be written to the queue on disk")
BACKEND_UP = Gauge("sinemora_gateway_backend_up", "1 while the backend answers, else 0")
ACKNOWLEDGED = Counter("sinemora_gateway_acknowledged_total", "Reports acknowledged to agents", ["how"])
FORWARDED = Counter("sinemora_gateway_forwarded_total", "Queued reports that the backend has stored")
REFUSED = Counter("sinemora_gateway_refused_total", "Queued reports that the backend refused for ever", ["code"])
REFUSED_DELETED = Counter("sinemora_gateway_refused_deleted_total", "Refused reports deleted beyond the limit")
NOT_ACCEPTED = Counter("sinemora_gateway_not_accepted_total", "Uploads that agents must send again", ["code"])
SKIPPED_WINDOWS = Counter(
    "sinemora_gateway_skipped_windows_total", "Windows of queued reports that the backend did not store: too old"
)
