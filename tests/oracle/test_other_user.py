"""An installation that root made serves a user without a home and a writable folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.broker import Broker
from oracle.cli.app import VERBS
from tests.oracle.plugins.real import Place
from tests.support.other_user import (
    NAMELESS,
    NOBODY,
    ROOT,
    OtherUser,
    lacking_for_other_users,
    other_user,
)
from tests.support.waiting import wait_until

LACKING = lacking_for_other_users()
pytestmark = pytest.mark.skipif(LACKING is not None, reason=f"lacking: {LACKING}")

EXAMPLES = ROOT / "docs" / "examples"
CHAIN = EXAMPLES / "chain.json"
STANDS = EXAMPLES / "chain-as-it-stands.json"
FIRST_LOOK = ROOT / "recordings" / "first-look"
OURS = f"sh {EXAMPLES}/awk/assign.sh second.awk"
FEW = ["--family=fresh", "--count=2"]
GROUP = "of-other-user"
OWN = ["--group", GROUP, "-o", "OUT/groups.jsonl"]
"""Other tests have groups at the same broker."""

ANSWER = """
from heuristics import ASSIGNORS
from rebalance import instance_of, parse_rebalance
from solver import compiled_kernels

instance = instance_of(parse_rebalance(
    '{"format": "rebalance/1", "group": "g", "topics": {"t": {"partitions": 3}},'
    ' "members": {"a": {"subscription": ["t"]}, "b": {"subscription": ["t"]}}}'
))
print(ASSIGNORS["range"].assign(instance).loads(instance).tolist())
print(*compiled_kernels(), sep="\\n", end="")
"""
NO_FOLDER = """
import tempfile
tempfile.tempdir = "/nonexistent"  # Python finds the present folder else
"""
FETCH = """
import sys
from pathlib import Path
from conformance.clients.jars import Jar, fetch
from rebalance import OutsideError

jar = Jar(group="org.example", name="a", version="1", sha256="0")
try:
    fetch([jar], Path(sys.prefix), java=Path("/nowhere"))
except OutsideError as error:
    print(error)
"""

QUICK: dict[str, list[str | Path]] = {
    "solve": ["solve", CHAIN],
    "assign": ["assign", "--assignor", "range", CHAIN],
    "judge": ["judge", CHAIN, STANDS],
    "explain": ["explain", CHAIN],
    "plan": ["plan", CHAIN, "--leave", "d"],
    "corpus": ["corpus"],
}
LONGER: dict[str, list[str | Path]] = {
    "solve by lag": ["solve", "--policy", "lag-sticky", EXAMPLES / "lag.json"],
    "solve by HiGHS": ["solve", "--engine", "highs", CHAIN],
    "solve by CP-SAT": ["solve", "--engine", "cp-sat", CHAIN],
    "solve of a source": ["solve", "--from", FIRST_LOOK, "--group", "g-range"],
    "compare": ["compare", CHAIN],
    "front": ["front", EXAMPLES / "front.json", "--picture", "OUT/front.svg"],
    "conform": ["conform", "--command", OURS, "--no-corpus", *FEW],
    "fuzz": ["fuzz", "--command", OURS, *FEW],
    "audit": ["audit", FIRST_LOOK, "--out", "OUT/audit"],
    "diff of that audit": ["diff", "OUT/audit", "OUT/audit"],
    "snapshot": ["snapshot", "--bootstrap-server", "SERVER", *OWN],
}
"""``OUT`` is the folder of the user, ``SERVER`` the address of a broker."""


@pytest.fixture(scope="module", params=[NOBODY, NAMELESS], ids=["nobody", "nameless"])
def user(request: pytest.FixtureRequest) -> Iterator[OtherUser]:
    with other_user(request.param) as made:
        yield made


def ended(user: OtherUser, command: list[str | Path], *, server: str = "") -> None:
    """Run the command. It had to keep nothing: all that it needed is installed."""
    words = [str(word).replace("OUT/", f"{user.out}/") for word in command]
    ran = user.oracle(*(server if word == "SERVER" else word for word in words))
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    assert not user.kept().exists(), list(user.kept().rglob("*"))


def test_every_verb_is_run() -> None:
    commands = [*QUICK.values(), *LONGER.values()]
    assert {verb.__name__ for verb in VERBS} == {command[0] for command in commands}


@pytest.mark.parametrize("name", QUICK)
def test_a_quick_verb(user: OtherUser, name: str) -> None:
    ended(user, QUICK[name])


@pytest.fixture(scope="module")
def server(broker: Broker) -> Iterator[str]:
    """The address of a broker with a group of one member."""
    place = Place(broker=broker, group=GROUP, topics={"of-other-user": 2})
    place.make_topics()
    member = place.librdkafka("range")
    try:
        wait_until(lambda: len(member.held) == 2)
        yield broker.address
    finally:
        member.leave()


@pytest.mark.heavy
@pytest.mark.parametrize("name", LONGER)
def test_a_longer_verb(user: OtherUser, server: str, name: str) -> None:
    ended(user, LONGER[name], server=server)
    assert [*user.folder.iterdir()] == [user.out], "nothing else was written"


@pytest.mark.heavy
def test_installed_kernels_are_loaded(user: OtherUser) -> None:
    ran = user.python(ANSWER)
    assert ran.stdout.splitlines() == ["[2, 1]"], ran.stderr
    assert not user.kept().exists()


@pytest.mark.heavy
def test_kernels_that_are_not_installed_are_kept_for_the_next_command(
    user: OtherUser,
) -> None:
    """Not if another user could have put them there."""
    absent = str(user.folder / "kernels")
    first = user.python(ANSWER, NUMBA_CACHE_DIR=absent)
    assert len(first.stdout.splitlines()) > 1, first.stderr
    assert user.kept().stat().st_mode & 0o777 == 0o700
    second = user.python(ANSWER, NUMBA_CACHE_DIR=absent)
    assert second.stdout.splitlines() == ["[2, 1]"], second.stderr
    user.kept().chmod(0o770)
    third = user.python(ANSWER, NUMBA_CACHE_DIR=absent)
    assert third.stdout == first.stdout, third.stderr


@pytest.mark.heavy
def test_kernels_are_compiled_if_there_is_no_folder_for_them(user: OtherUser) -> None:
    """As on a machine whose temporary folder is full, or read-only."""
    places = {"NUMBA_CACHE_DIR": "/nonexistent", "TMPDIR": "/nonexistent"}
    ran = user.python(NO_FOLDER + ANSWER, **places)
    assert ran.stdout.splitlines()[0] == "[2, 1]", ran.stderr


def test_jars_that_are_not_installed_are_named(user: OtherUser) -> None:
    ran = user.python(FETCH)
    assert ran.stdout.endswith("cannot be written to, and lacks a-1.jar\n"), ran.stderr
