"""Print the bill of materials of Rust binaries: `cargo_bill.py PACKAGE,… TARGET CARGO.LOCK < metadata`.

Reads what `cargo metadata --filter-platform` prints. Runs where cyclonedx-python-lib is installed, as the other bills'
tools do, so that no tool has to be built for it.
"""

# Its libraries are installed for the tools of the supply chain alone, not where types are checked.
# mypy: disable-error-code="import-not-found"

import json
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, Property, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL


def bill(
    metadata: Mapping[str, Any], applications: list[str], target: str, checksums: Mapping[tuple[str, str], str]
) -> str:
    """Return the bill of `applications`, named by the first, with every crate whose code is in them for `target`.

    Crates that only build scripts or tests use are left out. `checksums` has the SHA-256 of each locked crate by name
    and version.
    """
    packages = {entry["id"]: entry for entry in metadata["packages"]}
    nodes = {entry["id"]: entry for entry in metadata["resolve"]["nodes"]}
    by_name = {entry["name"]: key for key, entry in packages.items()}
    roots = [by_name[name] for name in applications]
    root = roots[0]
    needs = {key: sorted(_linked(nodes[key])) for key in nodes}
    components: dict[str, Component] = {}
    waiting = list(roots)
    while waiting:
        key = waiting.pop()
        if key not in components:
            components[key] = _component(packages[key], checksums, application=key in roots)
            waiting += needs[key]
    document = Bom(components=[entry for key, entry in components.items() if key != root])
    document.metadata.component = components[root]
    document.metadata.properties.add(Property(name="cdx:rustc:sbom:target:triple", value=target))
    for key, entry in components.items():
        document.register_dependency(entry, [components[need] for need in needs[key]])
    # The bill of one lock file is the same on every day and machine.
    printed = json.loads(JsonV1Dot6(document).output_as_string())
    del printed["metadata"]["timestamp"], printed["serialNumber"]
    return json.dumps(printed, indent=2)


def _linked(node: Mapping[str, Any]) -> Iterator[str]:
    # A kind of null is a normal dependency; the others are "build" and "dev".
    return (entry["pkg"] for entry in node["deps"] if any(kind["kind"] is None for kind in entry["dep_kinds"]))


def _component(package: Mapping[str, Any], checksums: Mapping[tuple[str, str], str], *, application: bool) -> Component:
    name, version = package["name"], package["version"]
    url = PackageURL("cargo", None, name, version)
    checksum = checksums.get((name, version))
    terms = LicenseFactory().make_from_string(package["license"]) if package["license"] else None
    repository = ExternalReference(type=ExternalReferenceType.VCS, url=XsUri(package["repository"] or ""))
    return Component(
        type=ComponentType.APPLICATION if application else ComponentType.LIBRARY,
        name=name,
        version=version,
        bom_ref=str(url),
        purl=url,
        description=package["description"],
        licenses=[terms] if terms else None,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=checksum)] if checksum else None,
        external_references=[repository] if package["repository"] else None,
    )


def locked(path: Path) -> dict[tuple[str, str], str]:
    """Return the SHA-256 of each crate in a Cargo.lock, by name and version."""
    entries = tomllib.loads(path.read_text("utf-8"))["package"]
    return {(entry["name"], entry["version"]): entry["checksum"] for entry in entries if "checksum" in entry}


if __name__ == "__main__":
    print(bill(json.load(sys.stdin), sys.argv[1].split(","), sys.argv[2], locked(Path(sys.argv[3]))))
