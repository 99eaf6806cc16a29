"""Make ``build/recipes``: programs with which the tests try docs/recipes."""

from __future__ import annotations

import fcntl
from pathlib import Path

from tools.side_environment import ROOT, side_environment

LOCK = ROOT / "requirements" / "recipes.lock"
VENV = ROOT / "build" / "recipes"


def make_recipe_partners() -> Path:
    """Make the environment if it is not current; return its Python.

    Tests of several processes need it at the same time.

    Raises
    ------
    SetUpError
        If the packages cannot be installed.
    """
    VENV.parent.mkdir(exist_ok=True)
    with VENV.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        side_environment(VENV, LOCK)
    return VENV / "bin" / "python"
