"""Install the clients that are declared in ``conformance/clients``."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Final

from conformance.clients import LINES, install
from conformance.clients.declaration import ClientDeclaration, declarations
from conformance.clients.installed import (
    GO_MODULES,
    built_command,
    clients_folder,
    inputs_of,
    place_of,
    record_build,
)
from conformance.clients.kafka_clients import installed
from rebalance import OutsideError
from tools.clients.builders import build_go, build_node, build_python
from tools.installer import SetUpError, say

Builder = Callable[[Path, ClientDeclaration], list[str]]

BUILDERS: Final = MappingProxyType(
    {"go": build_go, "node": build_node, "python": build_python}
)


def install_clients(names: list[str] | None = None) -> list[str]:
    """Install missing parts; return the specifications that failed.

    Parameters
    ----------
    names : list of str, optional
        Clients; default: all.
    """
    failed = []
    with _alone():
        for client in declarations():
            if names is not None and client.name not in names:
                continue
            for version in client.versions:
                spec = f"{client.name}@{version}"
                try:
                    _install(client, version)
                except (SetUpError, OutsideError, OSError, ValueError) as error:
                    say(f"{spec}: failed: {error}")
                    failed.append(spec)
                except subprocess.CalledProcessError as error:
                    say(f"{spec}: failed: {error.cmd[0]} ended with {error.returncode}")
                    failed.append(spec)
        shutil.rmtree(clients_folder() / GO_MODULES, ignore_errors=True)  # 1 GB
    return failed


def _install(client: ClientDeclaration, version: str) -> None:
    started = time.monotonic()
    toolchain = client.build.toolchain
    if toolchain == "none":
        return
    if toolchain == "java":
        if installed(LINES[version]) is not None:
            return
        install(LINES[version])
    else:
        if built_command(client, version) is not None:
            return
        build(client, version, BUILDERS[toolchain])
    say(f"{client.name}@{version} ({time.monotonic() - started:.1f} s)")


def build(client: ClientDeclaration, version: str, builder: Builder) -> None:
    """Build a version in an empty folder, and record it when it is complete."""
    place = place_of(client, version)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for path in inputs_of(client, version):
        shutil.copy(path, place / path.name)
    record_build(client, version, place, builder(place, client))


@contextmanager
def _alone() -> Iterator[None]:
    """Wait until another installation has ended."""
    folder = clients_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
