"""Run the files of docs/recipes as people do, with their own values."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECIPES = ROOT / "docs" / "recipes"
COMMAND = Path(sys.executable).parent / "assignor-oracle"
SECONDS = 500
"""Time limit of one audit, on a busy machine."""


def copied(folder: Path, values: Mapping[str, str] | None = None) -> Path:
    """Copy the recipes, with other values in place of their examples."""
    place = folder / "recipes"
    shutil.copytree(RECIPES, place)
    for example, value in (values or {}).items():
        found = 0
        for path in place.rglob("*.*"):
            text = path.read_text(encoding="utf-8")
            found += text.count(example)
            path.write_text(text.replace(example, value), encoding="utf-8")
        assert found, f"no recipe has {example}"
    return place


def run_recipe(
    script: Path, *options: str, variables: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a script of the recipes with this checkout's command."""
    given = {"PYTHONPATH": str(ROOT), "ORACLE": str(COMMAND), **variables}
    return subprocess.run(
        [str(script), *options],
        env=os.environ | given,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
