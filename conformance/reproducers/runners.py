"""The program that runs a test file, per language, with the installed clients.

Clients are those of ``make clients``: Go modules, ``node_modules``, environments of
Python packages, and jars. Nothing is installed here, except that Go and Ivy fetch a
module or a jar that is missing, and check its digest.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from conformance.clients import LINES, ClientAssignor, MissingClientError
from conformance.clients.client_registry import declaration_of
from conformance.clients.installed import (
    built_command,
    clients_folder,
    go_environment,
    place_of,
)
from conformance.clients.jars import fetch
from conformance.clients.kafka_clients import (
    COMPILER,
    compiling,
    installed,
    jars_folder,
)
from conformance.java import java_home
from conformance.reproducers.junit_launcher import JUNIT
from conformance.reproducers.rendering import Reproducer
from rebalance import OutsideError

_PYTEST: Final = (
    "_pytest",
    "iniconfig",
    "packaging",
    "pluggy",
    "py",
    "pygments",
    "pytest",
)

_QUIET: Final = (
    *("-m", "pytest", "-q", "-p", "no:cacheprovider"),
    *("--tb=line", "--disable-warnings"),
)
_LAUNCHED: Final = (
    *("org.junit.platform.console.ConsoleLauncher", "execute"),
    *("--disable-banner", "--disable-ansi-colors", "--details=tree"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """Commands that run a test in its folder, one after the other.

    Attributes
    ----------
    failed : int
        Exit code of the last one if a test fails.
    environment : mapping
        Variables in addition to those of this process; None removes one.
    """

    commands: tuple[tuple[str, ...], ...]
    failed: int = 1
    environment: Mapping[str, str | None] = field(default_factory=dict)


def runner_of(reproducer: Reproducer, folder: Path) -> Runner:
    """Return the commands for a reproducer whose files are in ``folder``.

    Raises
    ------
    MissingClientError
        If the client is not installed on this machine.
    OutsideError
        If a toolchain, or the test runner, is missing.
    """
    assignor = reproducer.case.assignor
    return _RUNNERS[reproducer.language](assignor, reproducer.file, folder)


def _python(assignor: ClientAssignor, file: str, folder: Path) -> Runner:
    """Use the client's environment; pytest comes from this one, by links."""
    command = _built(assignor)
    python = next(word for word in command if word.endswith("/bin/python"))
    beside = folder / ".pytest"
    beside.mkdir()
    for name in _PYTEST:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise OutsideError(f"reproducers in Python need {name}")
        origin = Path(spec.origin)
        target = origin.parent if spec.submodule_search_locations else origin
        (beside / target.name).symlink_to(target)
    return Runner(
        commands=((python, *_QUIET, file),),
        environment={
            "PYTHONPATH": str(beside),
            "PYTHONHASHSEED": "0",
            "PYTEST_ADDOPTS": None,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        },
    )


def _go(assignor: ClientAssignor, file: str, folder: Path) -> Runner:  # noqa: ARG001
    _built(assignor)
    inside = clients_folder() / "toolchains" / "go" / "bin" / "go"
    go = str(inside) if inside.exists() else shutil.which("go")
    if go is None:
        raise OutsideError("reproducers in Go need go: run `make clients`")
    return Runner(
        commands=((go, "test", "-count=1", "."),),
        environment=go_environment(),
    )


def _node(assignor: ClientAssignor, file: str, folder: Path) -> Runner:
    node = _built(assignor)[0]
    place = place_of(declaration_of(assignor.client), assignor.version)
    (folder / "node_modules").symlink_to(place / "node_modules")
    return Runner(commands=((node, "--test", "--test-reporter=tap", file),))


def _java(assignor: ClientAssignor, file: str, folder: Path) -> Runner:
    """Compile with the adapters' compiler, because a runtime may have none."""
    kafka = installed(LINES[assignor.version])
    if kafka is None:
        raise MissingClientError(assignor.client, assignor.version)
    java, jars = java_home().home / "bin" / "java", jars_folder()
    fetch((JUNIT, COMPILER), jars, java=java)
    path = os.pathsep.join(map(str, (jars / JUNIT.file_name, *kafka.line_jars)))
    (folder / "classes").mkdir()
    launch = (str(java), "-Xmx512m", "-cp", f"{path}{os.pathsep}classes", *_LAUNCHED)
    return Runner(
        commands=(
            tuple(compiling(java, [file], "classes", path)),
            (*launch, "--select-class", Path(file).stem),
        )
    )


_RUNNERS: Final = {"Go": _go, "Java": _java, "JavaScript": _node, "Python": _python}


def _built(assignor: ClientAssignor) -> tuple[str, ...]:
    command = built_command(declaration_of(assignor.client), assignor.version)
    if command is None:
        raise MissingClientError(assignor.client, assignor.version)
    return command
