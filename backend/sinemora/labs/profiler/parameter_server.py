"""Train a sparse linear model (lasso) with a parameter server and synchronous workers: the recipe `training`.

python -m sinemora.labs.profiler.parameter_server serve ADDRESS PORT
python -m sinemora.labs.profiler.parameter_server work ADDRESS PORT HERE WORKERS SECONDS

In each round the server sends the model to every worker, and continues when all have returned a gradient of their
samples (bulk synchronous, as in STRADS of UCAM-CL-TR-914, section 4). `work` runs HERE of WORKERS workers, one after
the other in one thread, and prints rounds per second and quantiles of the time of a round as JSON.

Messages: a worker greets with its number of the group's workers and the seconds to train (`!Id`). The server sends one
byte, 1 for another round, 0 for the end, and the model; the worker answers with the gradient. Both are 64-bit
floats in the order of the machine.
"""

import contextlib
import json
import selectors
import socket
import struct
import sys
import time

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

FEATURES = 100
SAMPLES = 200
PENALTY = 0.02
_HELLO = struct.Struct("!Id")
_MODEL_BYTES = 8 * FEATURES
_CONNECT_S = 5.0
# A group begins when its last worker has come.
_GATHER_S = 10.0


def serve(address: str, port: int) -> None:
    """Train one group of workers after another until killed."""
    with socket.create_server((address, port), backlog=256) as listener:
        waiting: list[socket.socket] = []
        while True:
            worker, _ = listener.accept()
            worker.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            waiting = [one for one in waiting if _is_open(one)]
            try:
                workers, seconds = _HELLO.unpack(_receive(worker, _HELLO.size))
            except (ConnectionError, struct.error):
                worker.close()
                continue
            waiting.append(worker)
            if len(waiting) >= workers:
                with contextlib.suppress(OSError):  # a worker was stopped; the group ends
                    _train(waiting, seconds)
                for one in waiting:
                    one.close()
                waiting = []


def work(address: str, port: int, here: int, workers: int, seconds: float) -> dict[str, object]:
    """Run `here` of a group of `workers`; return rounds per second and the latency of rounds."""
    chance = np.random.default_rng(1)
    truth = np.where(chance.random(FEATURES) < 0.1, chance.normal(size=FEATURES), 0.0)
    selector, ends = selectors.DefaultSelector(), []
    for number in range(here):
        connection = _connected(address, port)
        connection.settimeout(seconds + _GATHER_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        samples = np.random.default_rng((number, *connection.getsockname()[0].encode())).normal(
            size=(SAMPLES, FEATURES)
        )
        connection.sendall(_HELLO.pack(workers, seconds))
        selector.register(connection, selectors.EVENT_READ, (connection, samples, samples @ truth))
        ends.append(connection)
    rounds: list[float] = []
    model, first = np.zeros(FEATURES), ends[0]
    while selector.get_map():
        if not (ready := selector.select(_GATHER_S)):
            raise TimeoutError("the other workers of the group do not come")
        for key, _ in ready:
            connection, samples, targets = key.data
            more = _receive(connection, 1)
            if connection is first:
                rounds.append(time.perf_counter())
            if more == b"\0":
                selector.unregister(connection)
                connection.close()
                continue
            model = np.frombuffer(_receive(connection, _MODEL_BYTES), np.float64)
            connection.sendall((samples.T @ (samples @ model - targets) / SAMPLES).tobytes())
    took_us = np.diff(rounds) * 1e6
    p50, p95, p99 = np.quantile(took_us, (0.5, 0.95, 0.99)).tolist()
    latency_us = {"mean": float(took_us.mean()), "p50": p50, "p95": p95, "p99": p99, "max": float(took_us.max())}
    error = float(np.square(model - truth).sum() / np.square(truth).sum())
    return {"rate": 1e6 / latency_us["mean"], "latency_us": latency_us, "rounds": took_us.size, "error": error}


def _connected(address: str, port: int) -> socket.socket:
    """Return a connection to the server; workers may start before it. Raises `OSError` after 5 s."""
    until = time.monotonic() + _CONNECT_S
    while True:
        try:
            return socket.create_connection((address, port), _CONNECT_S)
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def _train(workers: list[socket.socket], seconds: float) -> None:
    """Run rounds of proximal gradient descent until the time is over, then send the end to all workers."""
    model, until = np.zeros(FEATURES), time.monotonic() + seconds
    step = 0.3
    while time.monotonic() < until:
        message = b"\1" + model.tobytes()
        for worker in workers:
            worker.sendall(message)
        # The round ends with the last answer, so the order of reading does not matter.
        gradient = np.zeros(FEATURES)
        for worker in workers:
            gradient += np.frombuffer(_receive(worker, _MODEL_BYTES), np.float64)
        moved = model - step * gradient / len(workers)
        model = np.sign(moved) * np.maximum(np.abs(moved) - step * PENALTY, 0)
    for worker in workers:
        worker.sendall(b"\0")


def _receive(connection: socket.socket, size: int) -> bytes:
    """Return `size` bytes. Raises `ConnectionError` when the other side closes before."""
    received = bytearray()
    while len(received) < size:
        part = connection.recv(size - len(received))
        if not part:
            raise ConnectionError("closed by the other side")
        received += part
    return bytes(received)


def _is_open(connection: socket.socket) -> bool:
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def main(arguments: list[str]) -> int:
    """Run one side. Return the exit code."""
    try:
        match arguments:
            case ["serve", address, port]:
                serve(address, int(port))
            case ["work", address, port, here, workers, seconds]:
                result = work(address, int(port), int(here), int(workers), float(seconds))
                sys.stdout.write(json.dumps(result) + "\n")
            case _:
                sys.stderr.write(f"{__doc__}\n")
                return 2
    except OSError as error:
        sys.stderr.write(f"parameter server: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
