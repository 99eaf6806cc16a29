"""Programs that ``make clients`` has built, in ``build/clients``.

Each build leaves ``built.json``: the digest of its inputs and the command that starts
the adapter. A build whose inputs have changed since counts as missing. The environment
variable ``ORACLE_CLIENTS`` names another folder, for an installation from a wheel.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Final

import orjson

from conformance.clients.declaration import FILE, FOLDER, ClientDeclaration

VARIABLE: Final = "ORACLE_CLIENTS"
RECORD: Final = "built.json"
GO_MODULES: Final = "go/modules"


def clients_folder() -> Path:
    """Return the folder of built clients."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else FOLDER.parents[1] / "build" / "clients"


def go_environment() -> dict[str, str]:
    """Return the variables with which Go builds; modules are checked against sums."""
    return {
        "GOMODCACHE": str(clients_folder() / GO_MODULES),
        "GOCACHE": str(clients_folder() / "go" / "cache"),
        "GOFLAGS": "-mod=readonly -modcacherw",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
        "CGO_ENABLED": "0",
    }


def place_of(client: ClientDeclaration, version: str) -> Path:
    """Return the folder of one build."""
    return clients_folder() / f"{client.name}-{version}"


def inputs_of(client: ClientDeclaration, version: str) -> tuple[Path, ...]:
    """Return the files that a build depends on: sources, locks, the declaration."""
    locks = sorted(p for p in (client.folder / "versions" / version).rglob("*"))
    sources = [(client.folder / name).resolve() for name in client.build.sources]
    return (client.folder / FILE, *sources, *(p for p in locks if p.is_file()))


def digest_of(client: ClientDeclaration, version: str) -> str:
    """Return the digest of a build's inputs, by name and content."""
    digest = hashlib.sha256()
    for path in inputs_of(client, version):
        data = path.read_bytes()
        digest.update(f"{path.name} {len(data)}\n".encode() + data)
    return digest.hexdigest()


def record_build(
    client: ClientDeclaration, version: str, place: Path, argv: list[str]
) -> None:
    """Record a completed build in its folder: digest and command."""
    record = {"digest": digest_of(client, version), "argv": argv}
    (place / RECORD).write_bytes(orjson.dumps(record))


def built_command(client: ClientDeclaration, version: str) -> tuple[str, ...] | None:
    """Return the command of an up-to-date build, without the assignor; else None."""
    try:
        record = orjson.loads((place_of(client, version) / RECORD).read_bytes())
        is_current = record["digest"] == digest_of(client, version)
        argv = tuple(map(str, record["argv"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    is_there = all(Path(word).exists() for word in argv if word.startswith("/"))
    return argv if is_current and is_there else None
