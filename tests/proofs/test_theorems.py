"""Every theorem holds without any assumption, as Coq itself reports."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.proofs.test_sources import FILES, theorems

CLOSED = "Closed under the global context"


def reported(compiled: Path, folder: Path, lines: list[str]) -> list[str]:
    """Return what Coq prints for commands about the compiled files, by line."""
    stems = (name.removesuffix(".v") for name in FILES)
    modules = " ".join(stem for stem in stems if stem != "Extraction")
    script = [f"From Assignor Require {modules}.", *lines]
    (folder / "Asked.v").write_text("\n".join(script) + "\n", "utf-8")
    ran = subprocess.run(
        ["coqc", "-q", "-Q", str(compiled), "Assignor", "Asked.v"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in ran.stdout.splitlines() if line.strip()]


@pytest.mark.heavy
def test_no_theorem_rests_on_an_axiom(compiled: Path, tmp_path: Path) -> None:
    names = theorems()
    assert len(names) >= 3
    lines = [f"Print Assumptions Assignor.{name}." for name in names]
    assert reported(compiled, tmp_path, lines) == [CLOSED] * len(names)


@pytest.mark.heavy
def test_an_axiom_would_be_reported(compiled: Path, tmp_path: Path) -> None:
    """The check can fail: with an axiom, Coq prints its name."""
    lines = [
        "Axiom anything : False.",
        "Theorem nothing : 1 = 2. Proof. destruct anything. Qed.",
        "Print Assumptions nothing.",
    ]
    assumptions = reported(compiled, tmp_path, lines)
    assert CLOSED not in assumptions
    assert any(line.startswith("anything") for line in assumptions)
