"""What the files of the proofs are: nothing assumed, not too long, each explained."""

from __future__ import annotations

import re

import pytest

from tools import proofs

LINES_MAX = 2500  # of code, as coqwc counts: neither comments nor blank lines
WIDTH_MAX = 100
ASSUMED = re.compile(
    r"\b(Admitted|admit|give_up|Axioms?|Parameters?|Conjectures?"
    r"|bypass_check|Unset Guard Checking)\b"
)
FILES = sorted(path.name for path in proofs.SOURCES.glob("*.v"))


def source(name: str) -> str:
    return (proofs.SOURCES / name).read_text("utf-8")


def code(name: str) -> str:
    """Return a file without its comments, which are not nested."""
    return re.sub(r"\(\*.*?\*\)", "", source(name), flags=re.DOTALL)


def theorems() -> list[str]:
    """Return every theorem as ``File.name``."""
    return [
        f"{name.removesuffix('.v')}.{found}"
        for name in FILES
        for found in re.findall(r"\bTheorem\s+(\w+)", code(name))
    ]


def test_every_file_is_compiled() -> None:
    assert sorted(proofs.files()) == FILES


def test_the_proofs_are_short() -> None:
    lines = [line for name in FILES for line in code(name).splitlines()]
    assert sum(1 for line in lines if line.strip()) <= LINES_MAX


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_assumed(name: str) -> None:
    assert ASSUMED.findall(code(name)) == []


@pytest.mark.parametrize("name", FILES)
def test_a_file_begins_with_what_it_proves(name: str) -> None:
    first = re.match(r"\(\*\* (.+?)\*\)", source(name), flags=re.DOTALL)
    assert first is not None
    assert len(first[1].split()) >= 20


@pytest.mark.parametrize("name", FILES)
def test_lines_fit(name: str) -> None:
    assert [line for line in source(name).splitlines() if len(line) > WIDTH_MAX] == []


def test_what_is_assumed_is_found() -> None:
    for line in ("Axiom a : False.", "Admitted.", "Parameter p : nat."):
        assert ASSUMED.search(line)
    assert not ASSUMED.search("Lemma admitted_is_no_axiom : True.")
