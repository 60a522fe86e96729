"""Reports of simulations: figures, the distribution of scores as SVG, and an HTML page of both without scripts."""

import dataclasses
import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from sinemora.kit.percent import percent
from sinemora.labs.simulation.core.simulate import SimulationResult, World

SOURCE = {
    "random": 47.2,
    "load_spreading": 46.8,
    "nomora_105_110": 60.2,
    "nomora_110_115": 51.85,
    "nomora_preempt": 59.0,
    "nomora_preempt_beta0": 89.6,
}
"""Areas in percent that the source reports (UCAM-CL-TR-937, 6.3): 24 hours of the trace, its own latency traces."""
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM, _LEGEND = 760, 380, 56, 20, 44, 190
# Okabe and Ito: distinguishable with any colour vision; from the eighth line on, dashes.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")


def summary(result: SimulationResult) -> dict[str, Any]:
    """Return the figures of one policy, and the distribution of scores at every percent."""
    moved = result.moved_share
    return {
        "policy": str(result.scheme),
        "jobs": len(result.scores),
        **{f"{name}_percent": round(area, 4) for name, area in result.areas.items()},
        "source_percent": SOURCE.get(str(result.scheme)),
        "worst_job": round(float(result.scores.min(initial=1.0)), 4),
        "solver_s": _quantiles(result.solver_s),
        "round_s": _quantiles(result.round_s),
        "placement_latency_s": _quantiles(result.latency_s),
        "response_s": _quantiles(result.response_s),
        "moved_share_mean": round(float(moved.mean()), 6) if len(moved) else 0.0,
        "moved_share": _quantiles(moved),
        "scores": _every_percent(result.scores, 4),
        "distributions": {
            "solver_s": _every_percent(result.solver_s, 6),
            "round_s": _every_percent(result.round_s, 6),
            "moved_share": _every_percent(moved, 6),
            "placement_latency_s": _every_percent(result.latency_s, 6),
            "response_s": _every_percent(result.response_s, 6),
        },
    }


def describe(world: World, version: str, code: str, inputs: str) -> dict[str, Any]:
    """Return the parameters of a run with the product's version and digests of code and inputs, which were drawn."""
    drawn = {"trace": None, "latency": None, "statistics": None}
    return dataclasses.asdict(world) | drawn | {"version": version, "code": code, "inputs": inputs}


def about(world: dict[str, Any]) -> str:
    """Return a description of the world."""
    jobs = (
        "the Google trace of 2011 (CC-BY 4.0)"
        if world["trace"]
        else "jobs drawn from statistics of the Google trace of 2011"
    )
    noise = f", measurement error up to {percent(world['noise'], 0)}" if world["noise"] else ""
    past = f", moves by the mean of the last {world['history_s']} s" if world["history_s"] > world["window_s"] else ""
    roots = f", {world['roots']} roots per job" if world["roots"] > 1 else ""
    start = ", jobs of the first step placed at random" if world["start_at_random"] else ""
    return (
        f"{world['machines']:,} machines of {world['slots']} slots, {world['rack_size']} per rack,"
        f" {world['pod_racks']} racks per pod, {world['seconds'] / 3600:g} h of {jobs}, steps of {world['step_s']} s,"
        f" moves every {world['round_s']} s{past}{roots}{start}{noise}, seed {world['seed']};"
        f" Sinemora {world['version']}, code {world['code']}, inputs {world['inputs']}"
    )


def write(report: dict[str, Any], folder: Path) -> list[Path]:
    """Write `simulation.json`, `scores.svg` and `report.html`; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = report["policies"]
    plot = svg(lines)
    paths = [folder / name for name in ("simulation.json", "scores.svg", "report.html")]
    paths[0].write_text(json.dumps(report) + "\n", "utf-8")
    paths[1].write_text(plot, "utf-8")
    paths[2].write_text(_page(lines, about(report["world"]), plot), "utf-8")
    return paths


def svg(lines: Sequence[dict[str, Any]]) -> str:
    """Return the distributions of scores over jobs as SVG, one line per policy."""
    right, bottom = _WIDTH - _LEGEND, _HEIGHT - _BOTTOM

    def x(score: float) -> float:
        return _LEFT + score * (right - _LEFT)

    def y(share: float) -> float:
        return bottom - share * (bottom - _TOP)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif"'
        ' font-size="12" role="img" aria-label="Distribution of average application performance over jobs">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
    ]
    for tick in range(0, 11, 2):
        share = tick / 10
        parts += [
            f'<line x1="{x(share):.1f}" x2="{x(share):.1f}" y1="{_TOP}" y2="{bottom}" stroke="#e5e7eb"/>',
            f'<line x1="{_LEFT}" x2="{right}" y1="{y(share):.1f}" y2="{y(share):.1f}" stroke="#e5e7eb"/>',
            f'<text x="{x(share):.1f}" y="{bottom + 16}" text-anchor="middle" fill="#1f2937">{tick * 10} %</text>',
            f'<text x="{_LEFT - 6}" y="{y(share) + 4:.1f}" text-anchor="end" fill="#1f2937">{share:g}</text>',
        ]
    for number, line in enumerate(lines):
        colour = _COLOURS[number % len(_COLOURS)]
        dash = ' stroke-dasharray="6 3"' if number >= len(_COLOURS) else ""
        points = " ".join(f"{x(score):.1f},{y(at / 100):.1f}" for at, score in enumerate(line["scores"]))
        at = _TOP + 10 + number * 18
        parts += [
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.8"{dash}/>',
            f'<line x1="{right + 14}" x2="{right + 34}" y1="{at}" y2="{at}" stroke="{colour}" stroke-width="2"{dash}/>',
            f'<text x="{right + 40}" y="{at + 4}" fill="#1f2937">{escape(line["policy"])}</text>',
        ]
    parts.append(
        f'<text x="{(_LEFT + right) / 2}" y="{_HEIGHT - 8}" text-anchor="middle" fill="#1f2937">average application'
        " performance of a job; share of jobs at or below</text></svg>"
    )
    return "\n".join(parts) + "\n"


def table(lines: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Return header and rows of the table of policies."""
    header = [
        "policy",
        "area %",
        "plain mean %",
        "source %",
        "worst job",
        "solver s (p50, p99)",
        "round s",
        "moved per round %",
    ]
    rows = [header]
    for line in lines:
        source, solver, rounds = line["source_percent"], line["solver_s"], line["round_s"]
        rows.append(
            [
                line["policy"],
                f"{line['area_percent']:.1f}",
                f"{line['plain_area_percent']:.1f}",
                "" if source is None else f"{source:g}",
                f"{line['worst_job']:.2f}",
                f"{solver['p50']:.3f}, {solver['p99']:.2f}" if solver else "",
                f"{rounds['p50']:.2f}" if rounds else "",
                f"{100 * line['moved_share_mean']:.2f}" if rounds else "",
            ]
        )
    return rows


def _page(lines: Sequence[dict[str, Any]], description: str, plot: str) -> str:
    head, *rows = table(lines)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n" for row in rows)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Simulation of placement policies</title>\n'
        "<style>body{font:15px sans-serif;margin:2rem auto;max-width:60rem;color:#1f2937;background:#fff}"
        "table{border-collapse:collapse}td,th{border-bottom:1px solid #d1d5db;padding:.3rem .7rem;text-align:right}"
        "td:first-child,th:first-child{text-align:left}</style>\n"
        f"<h1>Simulation of placement policies</h1><p>{escape(description)}</p>\n{plot}\n<table><thead><tr>"
        + "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
        + f"</tr></thead><tbody>\n{body}</tbody></table>\n</html>\n"
    )


def _every_percent(values: np.ndarray, digits: int) -> list[float]:
    """Return the quantiles at every percent, both ends included; nothing without values."""
    if not len(values):
        return []
    return [round(float(value), digits) for value in np.quantile(values, np.linspace(0, 1, 101))]


def _quantiles(values: np.ndarray) -> dict[str, float] | None:
    """Return median and tail; None without values."""
    if not len(values):
        return None
    return {name: round(float(np.quantile(values, q)), 6) for name, q in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99))}
