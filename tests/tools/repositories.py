"""Small git repositories, apart from the settings and the variables of whoever runs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

SETTINGS = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def git(folder: Path, *arguments: str) -> str:
    """Return what git prints; a variable such as ``GIT_DIR`` names no other folder."""
    others = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    command = ["git", *arguments]
    ran = subprocess.run(
        command,
        cwd=folder,
        env=others | SETTINGS,
        check=True,
        capture_output=True,
        text=True,
    )
    return ran.stdout.strip()


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def repository(folder: Path, files: dict[str, str]) -> Path:
    """Make a repository with one commit of some files."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    write(folder, files)
    commit(folder)
    return folder


def commit(folder: Path) -> str:
    """Commit everything, even nothing; return the full hash."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message=m")
    return git(folder, "rev-parse", "HEAD")
