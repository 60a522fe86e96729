"""Requests of an export: remote write of Prometheus or OTLP, sent by the policy of egress, and what is answered."""

import gzip
from collections.abc import Mapping
from urllib.parse import urlsplit

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import DataPointFlags, Gauge

from sinemora.kit import egress_policy
from sinemora.kit.config import settings
from sinemora.kit.egress_policy import EgressError, EgressRefused
from sinemora.measurements.metric_exports.models import MetricExportKind
from sinemora.measurements.prometheus import remote_read
from sinemora.measurements.prometheus.promql import NAME, Labels

_HEADERS = {
    MetricExportKind.remote_write: {
        "Content-Encoding": "snappy",
        "Content-Type": "application/x-protobuf",
        "X-Prometheus-Remote-Write-Version": "0.1.0",
    },
    MetricExportKind.otlp: {"Content-Encoding": "gzip", "Content-Type": "application/x-protobuf"},
}
_NEXT = {
    401: "Check the authentication.",
    403: "Check the authentication.",
    404: "Check the path of the URL.",
    413: "Its limit of a request is below 2,000 values.",
}
_RETRIED = (408, 425, 429)
# What is wrong with the values of one request alone.
_OF_VALUES = (400, 413, 422)


class SendError(Exception):
    """Failed request; the message is for the tenant.

    `retry`: it may succeed later as it is, after `after_s` if the server named that. `all`: others would fail too.
    """

    def __init__(self, message: str, *, retry: bool, all_: bool = True, after_s: int = 0) -> None:
        super().__init__(message)
        self.retry, self.all, self.after_s = retry, all_, after_s


def send(
    kind: MetricExportKind,
    url: str,
    headers: Mapping[str, str],
    values: Mapping[Labels, float | None],
    at_ms: int,
) -> None:
    """Send values at a time (Unix ms); the series of None ends. Raises SendError."""
    body = remote_read.packed_write(values, at_ms) if kind is MetricExportKind.remote_write else _otlp(values, at_ms)
    ours = _HEADERS[kind] | {"User-Agent": "Sinemora"}
    host = urlsplit(url).netloc
    try:
        answer = egress_policy.post(url, body, {**headers, **ours}, settings().allowed_metric_sources)
    except EgressRefused as error:
        raise SendError(f"Address refused: {error}.", retry=False) from None
    except EgressError as error:
        raise SendError(f"Server not reached: {error}.", retry=True) from None
    status = answer.status
    if status >= 500 or status in _RETRIED:
        raise SendError(f"{host} answers {status}.", retry=True, after_s=answer.retry_after_s or 0)
    if not 200 <= status < 300:
        more = _NEXT.get(status, "Redirects are not followed." if status < 400 else "It refuses the values.")
        raise SendError(f"{host} answers {status}. {more}", retry=False, all_=status not in _OF_VALUES)
    if kind is MetricExportKind.otlp and (rejected := _rejected(answer.body)):
        reason = f"{host} took {len(values) - rejected} of {len(values)} values."
        raise SendError(reason, retry=False, all_=False)


def _otlp(values: Mapping[Labels, float | None], at_ms: int) -> bytes:
    """Return an OTLP request: a gauge of each metric, with the labels of Prometheus as attributes."""
    request = ExportMetricsServiceRequest()
    of_product = request.resource_metrics.add()
    of_product.resource.attributes.add(key="service.name").value.string_value = "sinemora"
    scope = of_product.scope_metrics.add()
    scope.scope.name = "sinemora"
    gauges: dict[str, Gauge] = {}
    for labels, value in values.items():
        name = dict(labels)[NAME]
        if name not in gauges:
            unit = "s" if name.endswith("_seconds") else "1"
            gauges[name] = scope.metrics.add(name=name, unit=unit).gauge
        point = gauges[name].data_points.add(time_unix_nano=at_ms * 1_000_000)
        for label, text in labels:
            if label != NAME:
                point.attributes.add(key=label).value.string_value = text
        if value is None:
            point.flags = DataPointFlags.DATA_POINT_FLAGS_NO_RECORDED_VALUE_MASK
        else:
            point.as_double = value
    return gzip.compress(request.SerializeToString(), 6, mtime=0)


def _rejected(body: bytes) -> int:
    """Return the number of values that a collector did not take; 0 also where the answer is no message of OTLP."""
    try:
        return max(0, ExportMetricsServiceResponse.FromString(body).partial_success.rejected_data_points)
    except DecodeError:
        return 0
