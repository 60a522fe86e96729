"""Codec of evaluation state: rule states and baselines as bytes, so that they survive a restart.

0  4  magic `SNA1`
4  4  length of the JSON header
8     header: window end, what each array is (kind, name, field, type, shape), in order
…     zstd (level 1) of the VM keys (int64) and of the arrays, one after the other; little-endian
"""

import json
import struct
from typing import Any

import numpy as np
import numpy.typing as npt
import zstandard

from sinemora.alerts.evaluation.baseline import Baseline
from sinemora.alerts.evaluation.loss_counts import LossCounts
from sinemora.alerts.evaluation.m_of_n import RuleState
from sinemora.alerts.evaluation.recurring import Recurring
from sinemora.alerts.evaluation.window import EvaluationState
from sinemora.measurements.aggregate.matrix import Metric, Statistic, positions_of

_HEAD = struct.Struct("<4sI")
_MAGIC = b"SNA1"
_BASELINE, _RULE_STATE = ("level", "spread", "count"), ("hits", "seen", "run", "quiet", "firing")
_COUNTS, _TESTS = ("sent", "lost", "clean", "part"), ("score", "bad", "signals", "rate")
# Parts of the baselines that are not of a metric and statistic: rises of spikes, packets by time in seconds, tests of
# breaches that recur by rule.
_RISES, _PACKETS, _RECURRING = "rises", "packets", "recurring"
_AGES, _COUNT = "ages", "count"
# States of versions before ages were kept: their paths were counted.
_OLD = 65_535


class StateError(ValueError):
    """Bytes that this version cannot read as a state."""


def encode(state: EvaluationState, *, baselines: bool) -> bytes:
    """Return the rule states as bytes, or the baselines with the packets counted."""
    parts: list[tuple[dict[str, Any], npt.NDArray[Any]]] = []
    if baselines:
        for (metric, statistic), baseline in state.baselines.items():
            for field in _BASELINE:
                parts.append(_part(f"{metric}/{statistic}", field, getattr(baseline, field)))
        for metric, baseline in state.rises.items():
            for field in _BASELINE:
                parts.append(_part(f"{_RISES}/{metric}", field, getattr(baseline, field)))
        for over_s, counts in state.loss_counts.items():
            for field in _COUNTS:
                parts.append(_part(f"{_PACKETS}/{over_s}", field, getattr(counts, field)))
        for id, test in state.recurring.items():
            for field in _TESTS:
                parts.append(_part(f"{_RECURRING}/{id}", field, getattr(test, field)))
    else:
        parts.append(_part(_AGES, _COUNT, state.ages))
        for id, rule_state in state.rule_states.items():
            for field in _RULE_STATE:
                parts.append(_part(id, field, getattr(rule_state, field)))
    header = {"ended_at_s": state.ended_at_s, "keys": int(state.keys.size), "arrays": [part for part, _ in parts]}
    header_bytes = json.dumps(header).encode()
    body = state.keys.astype("<i8").tobytes() + b"".join(
        array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes() for _, array in parts
    )
    return _HEAD.pack(_MAGIC, len(header_bytes)) + header_bytes + zstandard.ZstdCompressor(level=1).compress(body)


def decode(rule_states: bytes | None, baselines: bytes | None) -> EvaluationState:
    """Return the state from both parts; missing parts are unknown. Raises `StateError`."""
    state = EvaluationState(np.zeros(0, np.int64))
    if rule_states is not None:
        state.ended_at_s, state.keys, parts = _read(rule_states)
        ages = parts.pop(_AGES, None)
        state.ages = np.full((state.keys.size,) * 2, _OLD, np.uint16) if ages is None else ages[_COUNT]
        for id, arrays in parts.items():
            state.rule_states[id] = RuleState(*(arrays[field] for field in _RULE_STATE))
    if baselines is not None:
        ended_at_s, keys, parts = _read(baselines)
        if rule_states is None:
            state.ended_at_s, state.keys = ended_at_s, keys
        for name, arrays in parts.items():
            kind, of = name.split("/")
            positions = None if np.array_equal(keys, state.keys) else positions_of(keys, state.keys)
            if kind == _PACKETS:
                counts = LossCounts(*(arrays[field] for field in _COUNTS))
                state.loss_counts[int(of)] = counts if positions is None else counts.rearranged(positions)
                continue
            if kind == _RECURRING:
                test = Recurring(*(arrays[field] for field in _TESTS))
                state.recurring[of] = test if positions is None else test.rearranged(positions)
                continue
            baseline = Baseline(*(arrays[field] for field in _BASELINE))
            baseline = baseline if positions is None else baseline.rearranged(positions)
            if kind == _RISES:
                state.rises[Metric(of)] = baseline
            else:
                state.baselines[Metric(kind), Statistic(of)] = baseline
    return state


def _part(name: str, field: str, array: npt.NDArray[Any]) -> tuple[dict[str, Any], npt.NDArray[Any]]:
    return {"name": name, "field": field, "type": array.dtype.str, "shape": list(array.shape)}, array


def _read(blob: bytes) -> tuple[int | None, npt.NDArray[np.int64], dict[str, dict[str, npt.NDArray[Any]]]]:
    try:
        magic, size = _HEAD.unpack_from(blob)
        if magic != _MAGIC:
            raise StateError("no alert state: wrong magic")
        header = json.loads(blob[_HEAD.size : _HEAD.size + size])
        body = zstandard.ZstdDecompressor().decompress(blob[_HEAD.size + size :])
        keys = np.frombuffer(body, "<i8", header["keys"]).astype(np.int64)
        offset = keys.nbytes
        parts: dict[str, dict[str, npt.NDArray[Any]]] = {}
        for part in header["arrays"]:
            count = int(np.prod(part["shape"], dtype=np.int64))
            array = np.frombuffer(body, part["type"], count, offset).reshape(part["shape"]).copy()
            offset += array.nbytes
            parts.setdefault(part["name"], {})[part["field"]] = array
    except (struct.error, ValueError, KeyError, zstandard.ZstdError) as error:
        raise StateError(str(error)) from error
    return header["ended_at_s"], keys, parts
