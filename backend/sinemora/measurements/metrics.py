"""Prometheus metrics of ingest and rollups."""

from prometheus_client import Counter, Gauge, Histogram

from sinemora.kit.observability.telemetry import WORKER

REPORTS = Counter("sinemora_ingest_reports", "Reports by outcome: stored, or the code of the refusal.", ["outcome"])
WINDOWS_SKIPPED = Counter(
    "sinemora_ingest_windows_skipped", "Windows of accepted reports that were not stored, by reason.", ["reason"]
)
FRAMES = Counter("sinemora_ingest_frames", "Frames by outcome: stored, or stored before.", ["outcome"])
PAIR_WINDOWS = Counter("sinemora_ingest_pair_windows", "Pairs of VMs in stored frames.")
PEERS_DROPPED = Counter("sinemora_ingest_peers_dropped", "Peers omitted from frames: VMs that no longer exist.")
NUMBERS_CLAMPED = Counter("sinemora_ingest_numbers_clamped", "Numbers beyond 32 bits, stored as the largest.")
SPIKES = Counter("sinemora_ingest_spikes", "Spikes stored with their exchanges.")
DECODE_QUEUE = Gauge("sinemora_ingest_decode_queue_reports", "Reports waiting to be decoded.")
QUEUE = Gauge("sinemora_ingest_queue_reports", "Reports waiting to be stored.")
BATCH_REPORTS = Histogram(
    "sinemora_ingest_batch_reports", "Reports stored in one transaction.", buckets=(1, 2, 5, 10, 20, 50, 100, 200, 500)
)
BATCH_SECONDS = Histogram(
    "sinemora_ingest_batch_seconds",
    "Time to store one batch, seconds.",
    buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5),
)
ROLLED_MINUTES = Counter("sinemora_rollup_minutes", "Minutes of meshes rolled up, repeats included.", registry=WORKER)
MERGE_FAILURES = Counter(
    "sinemora_rollup_failures", "Meshes whose steps could not be merged: see sinemora verify.", registry=WORKER
)
CACHED = Gauge("sinemora_remembered_bytes", "Memory of the cache of merged frames, bytes.")
LISTENERS = Gauge("sinemora_live_listeners", "Open event streams.")
