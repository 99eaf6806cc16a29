"""``make proofs`` never reports as built what it could not build."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import proofs


@pytest.fixture
def without_coq(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Find no program at all, and fail to install one; return what was asked for."""
    requested: list[str] = []

    def refuse(*names: str) -> str:
        requested.extend(names)
        return "no network"

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(proofs, "install_packages", refuse)
    return requested


def test_missing_is_no_success(
    without_coq: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert proofs.main([]) == proofs.MISSING == 3
    assert "coq" in without_coq
    said = capsys.readouterr().out
    assert "that failed: no network" in said
    assert "missing: coqc, ocamlfind, ocamlopt, zarith" in said


@pytest.mark.heavy
def test_a_broken_proof_is_reported(
    compiled: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert compiled.exists()
    (tmp_path / "_CoqProject").write_text("Broken.v\n", "utf-8")
    (tmp_path / "Broken.v").write_text("Lemma no : 1 = 2. Proof. reflexivity. Qed.\n")
    monkeypatch.setattr(proofs, "SOURCES", tmp_path)
    monkeypatch.setattr(proofs, "BUILD", tmp_path / "build")
    assert proofs.main([]) == proofs.BROKEN
    assert "Broken.v does not compile" in capsys.readouterr().err
