"""How many processes run tests, which test runs where, and what is written of it.

Runs pytest on small files, with the plugins of this folder.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.distribution import MOST, QUICK

ROOT = Path(__file__).parents[2]
SETTINGS = "[pytest]\nmarkers =\n  heavy: x\n  nightly: x\n"
TWO_CORES = "import os\nos.sched_getaffinity = lambda _: {0, 1}\n"
EMPTY = "def test_nothing():\n    pass\n"
GROUPS = """
import os
import pytest
import time

def note(name):
    with open("{folder}/ran", "a") as file:
        file.write(f"{{name}} {{os.environ['PYTEST_XDIST_WORKER']}}\\n")

def wait_for_long():
    for _ in range(600):
        with open("{folder}/ran") as file:
            if "long" in file.read():
                return
        time.sleep(0.1)

@pytest.fixture(scope="module")
def built():
    note("built")

@pytest.mark.parametrize("number", range(6))
def test_with_the_fixture(built, number):
    if number == 2:  # the other process may start later
        wait_for_long()
    note("used")

@pytest.mark.heavy(minutes=2)
def test_long():
    note("long")
"""


def run(
    folder: Path, *options: str, workers: str = "logical"
) -> subprocess.CompletedProcess[str]:
    """Run pytest on a folder with the plugins, which see its modules as ours."""
    command = [sys.executable, "-m", "pytest", "-v", "-p", "tests.support.distribution"]
    command += [
        "-p",
        "tests.support.durations",
        "-p",
        "no:cacheprovider",
        "-n",
        workers,
    ]
    return subprocess.run(
        [*command, *options, str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text(SETTINGS)
    (tmp_path / "conftest.py").write_text(TWO_CORES)
    return tmp_path


@pytest.mark.heavy
@pytest.mark.parametrize(("marks", "more"), [(QUICK, 0), ("heavy", 1), ("", 1)])
def test_heavy_tests_have_one_process_more(folder: Path, marks: str, more: int) -> None:
    (folder / "test_it.py").write_text(EMPTY)
    ran = run(folder, "-m", marks)
    assert f"{min(2 + more, MOST)} workers" in ran.stdout, ran.stdout + ran.stderr


@pytest.mark.heavy
def test_a_module_is_built_once_and_long_tests_begin(folder: Path) -> None:
    (folder / "test_a.py").write_text(EMPTY)
    (folder / "test_it.py").write_text(GROUPS.format(folder=folder))
    (folder / "conftest.py").write_text(
        f"{TWO_CORES}from tests.support import distribution\n"
        "distribution.OURS = 'test_'\n"
    )
    ran = run(folder, "--dist", "loadgroup", "--no-loadscope-reorder", workers="2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    lines = (folder / "ran").read_text().splitlines()
    assert sum(line.startswith("built") for line in lines) == 1
    used = [line for line in lines if line.startswith("used")]
    assert (len(used), len(set(used))) == (6, 1)
    (long,) = (n for n, line in enumerate(lines) if line.startswith("long"))
    assert long < 4  # next to the group, not after it


COLLECTED = """
from tests.support.distribution import groups_of

def pytest_collection_finish(session):
    names = [item.path.name for item in session.items]
    for name, group in sorted({*zip(names, map(str, groups_of(session.items)))}):
        print("group:", name, group)
"""


@pytest.mark.heavy
def test_tests_of_a_shared_fixture_are_one_group(tmp_path: Path) -> None:
    """Whatever their modules; those of one module's fixture, that module's."""
    (tmp_path / "collected.py").write_text(COLLECTED)
    names = [
        "tests/pipeline/test_spark_rows.py",
        "tests/oracle/plugins/test_real_groups.py",
    ]
    names += [
        "tests/verify/test_figures.py",
        "tests/pipeline/live/test_secured_cluster.py",
    ]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-p", "collected", *names],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.findall(r"^group: (\S+) (\S+)$", ran.stdout, re.MULTILINE)
    assert sorted(found) == [
        ("test_figures.py", "None"),
        ("test_real_groups.py", "broker"),
        ("test_secured_cluster.py", "test_secured_cluster"),
        ("test_spark_rows.py", "spark"),
    ]


@pytest.mark.heavy
def test_durations_are_written_and_long_tests_without_minutes_named(
    folder: Path,
) -> None:
    (folder / "test_it.py").write_text(
        "import subprocess, sys, pytest\n"
        "@pytest.fixture(scope='module')\n"
        "def wide(): pass\n"
        "def test_waits(wide): pass\n"
        "@pytest.mark.heavy(minutes=1)\n"
        "def test_stated(): pass\n"
        "@pytest.mark.parametrize('name', ['a@b::c'])\n"
        "def test_computes(name):\n"
        "    code = 'import time\\nwhile time.process_time() < 0.5: pass'\n"
        "    subprocess.run([sys.executable, '-c', code])\n"
    )
    (folder / "conftest.py").write_text(
        "from tests.support import distribution, durations\n"
        "durations.LONG = -1.0\n"
        "distribution.OURS = 'test_'\n"
    )
    file = folder / "build" / "found.tsv"
    xml = folder / "build" / "found.xml"
    options = ["--write-durations", str(file), "--junitxml", str(xml)]
    ran = run(folder, *options, "--dist", "loadgroup", workers="2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    head, *lines = file.read_text().splitlines()
    assert head.split("\t") == ["seconds", "cpu", "worker", "test"]
    rows = {line.partition("test_it.py::")[2]: line.split("\t") for line in lines}
    assert rows.keys() == {"test_waits", "test_stated", "test_computes[a@b::c]"}
    assert float(rows["test_computes[a@b::c]"][1]) >= 0.4
    assert lines[0].endswith("test_computes[a@b::c]")
    assert xml.read_text().count("<testcase ") == 3
    named = [line for line in ran.stdout.splitlines() if "without minutes" in line]
    assert len(named) == 2
    assert not any("test_stated" in line for line in named)
    assert "min of CPU in 2 processes" in ran.stdout


@pytest.mark.heavy
def test_a_failure_is_written_at_once_and_forgotten_by_the_next_run(
    folder: Path,
) -> None:
    file, failed = folder / "found.tsv", folder / "found.tsv.failed"
    code = f"import pathlib\nFAILED = pathlib.Path({str(failed)!r})\n"
    code += "def test_fails(): assert 1 == 2\n"
    code += "def test_reads(): assert 'test_fails (call)' in FAILED.read_text()\n"
    (folder / "test_it.py").write_text(code)
    (folder / "conftest.py").write_text("from tests.support import durations\n")
    options = ["--write-durations", str(file)]
    ran = run(folder, *options, workers="0")
    assert "1 failed, 1 passed" in ran.stdout
    assert "test_it.py::test_fails (call)\n" in failed.read_text()
    assert "assert 1 == 2" in failed.read_text()
    (folder / "test_it.py").write_text("def test_passes(): pass\n")
    assert run(folder, *options, workers="0").returncode == 0
    assert not failed.exists()
