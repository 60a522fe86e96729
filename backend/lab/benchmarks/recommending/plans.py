"""Plans of random recommendations with every kind of limit, put to the tools that would carry them out.

A running product answers. Half of the recommendations have names of nodes and pods, half have names that a shell, HCL
or YAML could take for code. kubernetes-validate checks the patched workloads, the definition of scheduler-plugins the
NetworkTopology, Terraform reads its variable back, and shellcheck reads the script. What was read must be the moves.

Then moves are made by a change of the application, and the time until the product has noticed is taken.
"""

import json
import os
import random
import re
import shlex
import subprocess
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import UUID

import jsonschema
import kubernetes_validate
import numpy as np
import yaml
from sqlalchemy import select
from sqlalchemy.orm import Session

from lab.benchmarks.figures import comment, report
from lab.benchmarks.optimality import question, unlimited
from lab.benchmarks.recommending.api import Api
from lab.benchmarks.recommending.tenants import declare, small
from lab.benchmarks.storing.programs import program
from sinemora.applications.models import Application, Task
from sinemora.fleet.inventory.models import Vm, Zone
from sinemora.fleet.meshes.models import MeshVm
from sinemora.kit.db import system_session
from sinemora_client import ApiError
from sinemora_client.models import PlanFormat

RECOMMENDATIONS, NOTICED = 200, 10
_ROOT = Path(__file__).resolve().parents[4]
_PINS = tomllib.loads((_ROOT / "infra/toolchain/versions.toml").read_text("utf-8"))
_ODD = ("$(touch x)", "`id`", "a'b", 'a"b', "ü 🜨", "-rf", "${a}", "%{if true}", "# x", "a;b", "\\x41", "*", "- a: b")
_LIMIT_S, _APART_S = 240, 3.1

Check = Callable[[dict[str, Any], str, bool], None]


def main(seed: int) -> None:
    """Print the share of plans that their tools take, and the longest time until made moves are noticed."""
    with unlimited() as api, tempfile.TemporaryDirectory() as folder:
        found = list(_recommendations(api, seed))
        checks, counts, wrong = _checks(Path(folder)), Counter[str](), list[str]()
        for answer in found:
            for form, check in checks.items():
                for back in (False, True):
                    _put(api, answer, (form, back), check, counts, wrong)
        for words in wrong[:20]:
            comment(words)
        valid = 100 * (1 - len(wrong) / counts["plans"])
        report("plans_valid_percent", valid, recommendations=len(found), seed=seed, **counts)
        with ExitStack() as ends:
            for name in ("watcher", "notifier", "worker", "mover", "beat"):
                ends.enter_context(program(name, Path(folder)))
            people = ends.enter_context(ThreadPoolExecutor(NOTICED))
            times_s = list(people.map(lambda at: _noticed_s(api, found[-at - 1], _APART_S * at), range(NOTICED)))
    report("applied_noticed_s", max(times_s), recommendations=len(times_s), median_s=float(np.median(times_s)))


def _recommendations(api: Api, seed: int) -> Iterator[dict[str, Any]]:
    """Yield recommendations with moves; then rename what they are about. `vms` has name and zone of each VM by id."""
    found = number = 0
    while found < RECOMMENDATIONS:
        mesh = f"plans-{seed}-{number}"
        tenant = small(np.random.default_rng((seed, number)))
        declare(api, mesh, tenant)
        answer, _ = api.recommendation(question(mesh, tenant))
        if answer.get("steps"):
            draw = random.Random(f"{seed} {number}")
            with system_session() as session:
                _rename(session, mesh, draw, odd=found % 2 == 1)
                vms = session.scalars(
                    select(Vm).join(MeshVm, MeshVm.vm_id == Vm.id).where(MeshVm.mesh_id == UUID(answer["mesh"]["id"]))
                )
                answer["vms"] = {str(vm.id): (vm.name, vm.zone.name) for vm in vms}
                ids = [UUID(step["task"]["id"]) for step in answer["steps"]]
                tasks = session.execute(select(Task.id, Task.name).where(Task.id.in_(ids)))
                answer["tasks"] = {str(identity): name for identity, name in tasks}
            found += 1
            yield answer
        number += 1


def _rename(session: Session, mesh: str, draw: random.Random, *, odd: bool) -> None:
    """Give tasks the names of pods; half of all names are odd, if any are to be."""

    def rename(row: Any, plain: str) -> None:
        row.name = f"{plain} {draw.choice(_ODD)}" if odd and draw.random() < 0.5 else plain

    for at, application in enumerate(session.scalars(select(Application).where(Application.name.like(f"{mesh}-%")))):
        rename(application, application.name)
        for task in application.tasks:
            rename(task, f"app{at}-{task.position}")
    for vm in session.scalars(select(Vm).where(Vm.name.like(f"{mesh}-%"))):
        rename(vm, vm.name)
    for zone in session.scalars(select(Zone).where(Zone.name.like(f"{mesh}-%"))):
        rename(zone, zone.name)


def _put(
    api: Api, answer: dict[str, Any], way: tuple[PlanFormat, bool], check: Check, counts: Counter[str], wrong: list[str]
) -> None:
    """Put a plan to its tool; count it, or the refusal in words that names the format."""
    form, back = way
    try:
        text = api.read_recommendation_plan(answer["id"], format=form, back=back)
    except ApiError as error:
        if error.code != "plan_impossible":
            wrong.append(f"{form}: {error}")
        counts["refused"] += 1
        return
    counts["plans"] += 1
    counts[form] += 1
    try:
        check(answer, text, back)
    except Exception as error:  # whatever a tool or a reader of its answer says
        wrong.append(f"{form} of {answer['id']}, back={back}: {error!r}\n{text[-1500:]}")


def _checks(folder: Path) -> dict[PlanFormat, Check]:
    definition = yaml.safe_load((_module("network-topology") / "manifests/crd.yaml").read_text("utf-8"))
    schema = _closed(definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
    return {
        "kubernetes": _kubernetes,
        "network-topology": lambda _, text, __: jsonschema.validate(yaml.safe_load(text), schema),
        "terraform": lambda answer, text, back: _terraform(folder, answer, text, back=back),
        "systemd": _systemd,
    }


def _kubernetes(answer: dict[str, Any], text: str, back: bool) -> None:
    known = {name for name, _ in answer["vms"].values()}
    documents = [one for one in yaml.safe_load_all(text) if one]
    assert documents
    for patch in documents:
        name = patch["metadata"]["name"]
        labels = {"app.kubernetes.io/name": name}
        whole = patch | {"metadata": {"name": name}, "spec": {"selector": {"matchLabels": labels}}}
        pod = patch["spec"]["template"]["spec"] | {"containers": [{"name": "c", "image": "i"}]}
        whole["spec"]["template"] = {"metadata": {"labels": labels}, "spec": pod}
        if patch["kind"] == "StatefulSet":
            whole["spec"]["serviceName"] = name
        kubernetes_validate.validate(whole, kubernetes_validate.latest_version(), strict=True)
        terms = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        nodes = {term["matchFields"][0]["values"][0] for term in terms}
        assert nodes <= known, nodes - known
        moved = {
            answer["vms"][(step["source"] if back else step["target"] or {})["id"]][0]
            for step in answer["steps"]
            if re.fullmatch(rf"{name}-\d", answer["tasks"][step["task"]["id"]]) and (step["source"] or not back)
        }
        assert moved <= nodes, (moved, nodes)


def _terraform(folder: Path, answer: dict[str, Any], text: str, *, back: bool) -> None:
    described = re.search(r"# The variable that it fits:(.*?# +}\n)", text, re.DOTALL)
    declared = described[1].replace("#", "") if described else ""
    main = folder / "main.tf"
    terraform = str(_ROOT / ".tools/terraform" / _PINS["terraform"]["pinned"] / "terraform")
    if not main.exists() or main.read_text("utf-8") != declared:
        main.write_text(declared, "utf-8")
        _run([terraform, "validate"], folder)
    (folder / "plan.tfvars").write_text(text, "utf-8")
    said = _run([terraform, "console", "-var-file=plan.tfvars"], folder, "jsonencode(var.vm_zones)\n")
    zones = json.loads(json.loads(said))
    moved: dict[str, set[str]] = {}
    for step in answer["steps"]:
        if step["source"] is not None:
            end = step["source"] if back else step["target"]
            moved.setdefault(answer["vms"][step["source"]["id"]][0], set()).add(answer["vms"][end["id"]][1])
    assert zones, said
    assert all(moved[vm] == {zone} for vm, zone in zones.items()), (zones, moved)


def _systemd(answer: dict[str, Any], text: str, back: bool) -> None:
    _run(["shellcheck", "--shell=sh", "-"], Path("/"), text)
    hosts = {words[5] for line in text.splitlines() if (words := shlex.split(line, comments=True))[:1] == ["ssh"]}
    assert hosts <= {name for name, _ in answer["vms"].values()}
    refused = subprocess.run(["sh", "-c", text], capture_output=True, timeout=30, check=False)
    assert refused.returncode == 2  # without an argument


def _run(command: list[str], folder: Path, given: str = "") -> str:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "CHECKPOINT_DISABLE": "1"}
    done = subprocess.run(
        command, cwd=folder, input=given, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode:
        raise AssertionError(f"{command[0]}: {done.stdout}{done.stderr}")
    return done.stdout


def _module(name: str) -> Path:
    """Return the folder of a Go module, brought for the moment of the benchmark."""
    go = json.loads((_ROOT / ".tools/paths.json").read_text("utf-8"))["go"]
    wanted = f"{_PINS[name]['module']}@{_PINS[name]['pinned']}"
    done = subprocess.run([go, "mod", "download", "-json", wanted], cwd="/", capture_output=True, text=True, check=True)
    return Path(json.loads(done.stdout)["Dir"])


def _closed(schema: Any) -> Any:
    """Return a schema in which an unknown field is an error, as for an API server that is asked to be strict."""
    if not isinstance(schema, dict):
        return [_closed(one) for one in schema] if isinstance(schema, list) else schema
    known = {name: _closed(value) for name, value in schema.items()}
    return known | ({"additionalProperties": False} if isinstance(known.get("properties"), dict) else {})


def _noticed_s(api: Api, answer: dict[str, Any], wait_s: float) -> float:
    """Record the tasks of a recommendation on their new VMs after a wait; return the time until it is applied."""
    time.sleep(wait_s)
    target = {step["task"]["id"]: step["target"]["id"] for step in answer["steps"]}
    for identity in {step["application"]["id"] for step in answer["steps"]}:
        application = api.read(f"/v1/applications/{identity}")
        fields = ("name", "root", "pinned", "slots", "cpu_millicores", "memory_mib")
        tasks = [
            {field: task[field] for field in fields} | {"vm": target.get(task["id"], task["vm"] and task["vm"]["id"])}
            for task in application["tasks"]
        ]
        api.read(f"/v1/applications/{identity}", {"tasks": tasks}, method="PATCH", if_match="*")
    started_s = time.monotonic()
    while api.read(f"/v1/recommendations/{answer['id']}")["state"] != "applied":
        if time.monotonic() - started_s > _LIMIT_S:
            raise AssertionError(f"{answer['id']} was not noticed within {_LIMIT_S} s")
        time.sleep(0.2)
    return time.monotonic() - started_s
