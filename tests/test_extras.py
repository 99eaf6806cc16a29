"""Without an extra, the base works, and the rest names the extra that it needs.

The modules of the extras are blocked; `tests/test_installation.py` installs the wheel.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
from types import SimpleNamespace

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from rebalance import extra_needed, extra_of, install_command
from rebalance.extras import MODULES

ROOT = Path(__file__).resolve().parent.parent
CHAIN = "docs/examples/chain.json"
STANDS = "docs/examples/chain-as-it-stands.json"
AWK = "sh docs/examples/awk/assign.sh second.awk"
BLOCKED = sorted({module for known in MODULES.values() for module in known})
RUN = """
import json, sys
sys.modules.update(dict.fromkeys(json.loads(sys.argv[1])))
from oracle.cli import run
for arguments in json.loads(sys.argv[2]):
    print("exit code", run(arguments), flush=True)
"""
EXTRAS: dict[str, list[str]] = tomllib.loads((ROOT / "pyproject.toml").read_text())[
    "project"
]["optional-dependencies"]


def run_blocked(*commands: list[str]) -> subprocess.CompletedProcess[str]:
    """Run commands in a process that can import no module of an extra."""
    command = [sys.executable, "-c", RUN, json.dumps(BLOCKED), json.dumps(commands)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)


@pytest.mark.heavy
def test_the_base_runs_without_extras() -> None:
    ran = run_blocked(
        ["--help"],
        ["solve", CHAIN],
        ["explain", CHAIN],
        ["plan", CHAIN, "--leave", "d"],
        ["assign", "--assignor", "chain-sticky", CHAIN],
        ["judge", "--against", "optimum", CHAIN, STANDS],
        ["conform", "--command", AWK, "--family", "churn", "--count", "1"],
        ["fuzz", "--command", AWK, "--family", "churn", "--count", "1"],
        ["compare", CHAIN],
    )
    assert ran.stdout.count("exit code 0\n") == 9, ran.stdout + ran.stderr
    compared = json.loads(ran.stdout.splitlines()[-2])
    answers = {answer["assignor"]: answer for answer in compared["answers"]}
    assert answers["optimum"]["proved"]["stickiness"]
    assert not answers["kip54-sticky"]["applies"]
    assert (
        "needs the extra `programs`: pip install" in answers["kip54-sticky"]["refused"]
    )


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("command", "part", "extra"),
    [
        (["audit", "recordings", "--out", "out/none"], "audit", "audit"),
        (["snapshot", "--bootstrap-server", "h:1"], "snapshot", "audit"),
        (["diff", "out/old", "out/new"], "diff", "audit"),
        (["front", CHAIN], "front", "programs"),
        (["solve", "--from", "recordings"], "--from", "audit"),
        (
            ["solve", "--policy", "kip54; max-moves=2", CHAIN],
            "policy 'kip54; max-moves=2'",
            "programs",
        ),
        (
            ["solve", "--engine", "highs", CHAIN],
            "policy 'dec-min; stickiness'",
            "programs",
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_what_needs_an_extra_names_it(
    command: list[str], part: str, extra: str
) -> None:
    ran = run_blocked(command)
    assert ran.stdout == "exit code 3\n"
    (line,) = ran.stderr.splitlines()
    expected = f"{part} needs the extra `{extra}`: {install_command(extra)}"
    assert line == f"assignor-oracle: {expected}"


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("module", "extra"),
    [
        ("oracle.plugins.aiokafka", "aiokafka"),
        ("oracle.plugins.kafka_python", "kafka-python"),
        ("oracle.pytest_plugin", "pytest"),
    ],
)
def test_a_module_names_its_extra(module: str, extra: str) -> None:
    imported = f"""
import json, sys
sys.modules.update(dict.fromkeys(json.loads(sys.argv[1])))
from rebalance import MissingExtraError
try:
    import {module} as module
    module.instances
except MissingExtraError as error:
    print(error.exit_code, error.part, error.extra)
"""
    command = [sys.executable, "-c", imported, json.dumps(BLOCKED)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout == f"3 {module} {extra}\n"


def test_every_module_of_an_extra_belongs_to_it() -> None:
    known = packages_distributions()
    for extra, modules in MODULES.items():
        listed = {canonicalize_name(Requirement(r).name) for r in EXTRAS[extra]}
        brought = {"py4j": {"pyspark"}}  # it comes with another's package
        for module in modules:
            found = brought.get(module) or {canonicalize_name(d) for d in known[module]}
            assert found & listed, f"{module}: not in the extra {extra}"


def test_all_has_every_extra() -> None:
    (everything,) = (Requirement(line) for line in EXTRAS["all"])
    assert everything.extras == EXTRAS.keys() - {"all"}


def test_other_missing_modules_stay_what_they_are() -> None:
    assert extra_of("ortools.sat.python") == "programs"
    assert extra_of("numpy") is None
    assert extra_of(None) is None
    with pytest.raises(ModuleNotFoundError), extra_needed("anything"):
        __import__("no_such_module")


@pytest.mark.parametrize(
    ("recorded", "command"),
    [
        (None, "pip install 'assignor-oracle[audit]'"),
        (
            {"url": "file:///a%20b/assignor_oracle-0.1.0-py3-none-any.whl"},
            (
                "pip install 'assignor-oracle[audit] @ "
                "file:///a%20b/assignor_oracle-0.1.0-py3-none-any.whl'"
            ),
        ),
        (
            {"url": "file:///a%20b/oracle", "dir_info": {"editable": True}},
            "pip install --editable '/a b/oracle[audit]'",
        ),
    ],
)
def test_the_command_installs_from_where_this_was_installed(
    recorded: object, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = None if recorded is None else json.dumps(recorded)
    fake = SimpleNamespace(read_text=lambda _name: text)
    monkeypatch.setattr("importlib.metadata.distribution", lambda _name: fake)
    assert install_command("audit") == command
