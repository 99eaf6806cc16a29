"""Make ``build/recipes``: programs with which the tests try docs/recipes."""

from __future__ import annotations

from pathlib import Path

from tools.side_environment import ROOT, side_environment

LOCK = ROOT / "requirements" / "recipes.lock"
VENV = ROOT / "build" / "recipes"


def make_recipe_partners() -> Path:
    """Make the environment if it is not current; return its Python.

    Raises
    ------
    SetUpError
        If the packages cannot be installed.
    """
    VENV.parent.mkdir(exist_ok=True)
    side_environment(VENV, LOCK)
    return VENV / "bin" / "python"
