"""Declared, locked, built, and checked packages agree."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import entry_points, packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
SHIPPED = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
LOCKS = (
    "uv",
    "build",
    "kernel-packages",
    "runtime",
    "dev",
    "workers",
    "docs",
    "spark-4.0",
    "go",
    "node",
)
SUPPORTED = ("3.11", "3.12", "3.13")
RUNTIME = ("programs", "audit")
"""Extras that set-up installs besides the base."""
REQUESTED_EXTRAS = {
    "conformance/clients/trust.py": "jars",
    "conformance/testing/hypothesis_strategies.py": "pytest",
    "oracle/plugins/aiokafka.py": "aiokafka",
    "oracle/pytest_plugin.py": "pytest",
}
"""Files that need a further extra, and which."""

Pins = dict[str, list[Requirement]]


def entries(lock: str) -> Iterator[tuple[Requirement, list[str]]]:
    """Yield each locked requirement with its hashes."""
    text = (ROOT / "requirements" / f"{lock}.lock").read_text()
    for entry in re.split(r"\n(?=\S)", text.strip()):
        requirement, *hashes = re.split(r"\s*\\\n\s*", entry)
        yield Requirement(requirement), hashes


def pins(lock: str) -> Pins:
    found: Pins = {}
    for requirement, _ in entries(lock):
        found.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    return found


def wanted(lock: str) -> list[Requirement]:
    """Return what people wrote down for a lock."""
    base: list[str] = PROJECT["project"]["dependencies"]
    extras: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]
    every = [line for name in extras if name != "all" for line in extras[name]]
    written = {
        "runtime": [*base, *(line for name in RUNTIME for line in extras[name])],
        "dev": [*base, *every, *PROJECT["dependency-groups"]["dev"]],
    }.get(lock, [])
    source = ROOT / "requirements" / f"{lock}.in"
    lines = [] if written else source.read_text().splitlines()
    written = written + [line for line in lines if not line.startswith("#")]
    assert written
    return [Requirement(line) for line in written]


@pytest.mark.parametrize("lock", LOCKS)
def test_every_file_of_a_lock_has_its_hash(lock: str) -> None:
    for requirement, hashes in entries(lock):
        assert re.fullmatch(r"==[^=*,]+", str(requirement.specifier)), requirement
        assert hashes, requirement
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", h) for h in hashes)


@pytest.mark.parametrize("lock", LOCKS)
@pytest.mark.parametrize("python", SUPPORTED)
def test_a_lock_contains_the_declared_packages(lock: str, python: str) -> None:
    environment = {"python_version": python, "python_full_version": f"{python}.0"}
    for requirement in wanted(lock):
        locked = [
            pin
            for pin in pins(lock).get(canonicalize_name(requirement.name), [])
            if pin.marker is None or pin.marker.evaluate(environment)
        ]
        assert len(locked) == 1, f"{requirement} for {python}: run make lock"
        version = str(locked[0].specifier).removeprefix("==")
        assert requirement.specifier.contains(version), f"{requirement}: run make lock"


@pytest.mark.parametrize("lock", ["build", "kernel-packages", "runtime", "workers"])
def test_locks_agree(lock: str) -> None:
    everything = pins("dev")
    for name, narrow in pins(lock).items():
        assert list(map(str, narrow)) == list(map(str, everything[name])), name


def test_the_build_lock_builds_us() -> None:
    """``--no-build-isolation`` uses installed packages: they must be those pinned."""
    for requirement in map(Requirement, PROJECT["build-system"]["requires"]):
        (pin,) = pins("build")[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(str(pin.specifier).removeprefix("=="))


@pytest.mark.heavy
def test_kernels_compile_without_the_packages_that_come_later() -> None:
    """Set-up compiles them before the rest of the runtime is installed."""
    present = {*pins("build"), *pins("kernel-packages")}
    later = sorted(pins("runtime").keys() - present)
    assert {"pyspark", "pyarrow"} <= set(later)
    found = packages_distributions()
    names = [n for n in found if {canonicalize_name(d) for d in found[n]} <= {*later}]
    block = f"import sys; sys.modules.update(dict.fromkeys({names}))"
    run = "from tools.kernel_tasks import tasks; assert tasks()"
    subprocess.run([sys.executable, "-c", f"{block}; {run}"], cwd=ROOT, check=True)


def imported(package: str) -> Iterator[tuple[str, Path]]:
    """Yield the first name of every import in a package, with its file.

    A folder that is no package holds programs for environments of their own.
    """
    for file in (ROOT / package).rglob("*.py"):
        if not (file.parent / "__init__.py").exists():
            continue
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield alias.name.partition(".")[0], file
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module.partition(".")[0], file


@pytest.mark.heavy
def test_what_is_imported_is_declared() -> None:
    declared = {canonicalize_name(r.name) for r in wanted("runtime")}
    # Modules that come with the packages of others.
    brought = {"py4j": {"pyspark"}, "pydantic_core": {"pydantic"}}
    known = packages_distributions()
    for package in SHIPPED:
        for name, file in imported(package):
            if name in sys.stdlib_module_names or name in SHIPPED:
                continue
            dists = brought.get(name) or {canonicalize_name(d) for d in known[name]}
            assert dists & (declared | extra(file)), f"{file}: {name}"


def extra(file: Path) -> set[str]:
    """Return what this file may import beyond the rest: that of its extra."""
    extras: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]
    requirements = extras.get(
        REQUESTED_EXTRAS.get(file.relative_to(ROOT).as_posix(), ""), []
    )
    return {canonicalize_name(Requirement(r).name) for r in requirements}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.Path:
    target = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d"]
    subprocess.run([*build, str(target)], cwd=ROOT, check=True, capture_output=True)
    (file,) = target.glob("*.whl")
    return zipfile.Path(file)


@pytest.mark.heavy
def test_the_wheel_holds_the_packages_and_nothing_else(wheel: zipfile.Path) -> None:
    there = {name for name in SHIPPED if (ROOT / name / "__init__.py").exists()}
    info = {path.name for path in wheel.iterdir() if path.name.endswith(".dist-info")}
    assert {path.name for path in wheel.iterdir()} == there | info
    assert len(info) == 1


@pytest.mark.heavy
def test_the_wheel_holds_every_file(wheel: zipfile.Path) -> None:
    """Templates, settings and the like must ship with the modules that read them."""
    shipped = set(wheel.root.namelist())
    listed = ["git", "ls-files", "--", *SHIPPED]
    tracked = subprocess.run(
        listed, cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = tracked.stdout.splitlines()
    assert "pipeline/log4j2.properties" in names
    there = {name for name in names if (ROOT / name).exists()}
    assert there <= shipped


@pytest.mark.parametrize("package", SHIPPED)
def test_the_packages_declare_their_types(package: str) -> None:
    """PEP 561: without the file, a type checker ignores what the package declares."""
    assert (ROOT / package / "py.typed").is_file()


def test_the_command_can_be_loaded() -> None:
    (command,) = entry_points(group="console_scripts", name="assignor-oracle")
    assert callable(command.load())


@pytest.mark.heavy
def test_types_are_checked_everywhere() -> None:
    code = {file.parent.relative_to(ROOT).parts[0] for file in ROOT.glob("*/**/*.py")}
    ours = {name for name in code if not name.startswith((".", "build", "mutants"))}
    others = {"out", "dist", "docs"}  # reproducers of docs/ need only their client
    assert set(PROJECT["tool"]["mypy"]["files"]) == ours - others


def test_make_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony is not None
    listing = subprocess.run(
        ["make"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    listed = re.findall(r"^  make (\S+) +\S", listing.stdout, re.MULTILINE)
    assert sorted(listed) == sorted(phony[1].split())
