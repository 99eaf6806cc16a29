"""The newest commit whose nightly run passed, and the files that differ from it.

``.ci/nightly-passed`` names the commit: it is the first word of the first line that is
not a comment (``#``). The rest of that line states the date and the duration of the
run.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
PASSED: Final = Path(".ci/nightly-passed")
_FULL_HASH: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_HEAD: Final = """\
# The newest commit whose nightly run passed: `python -m tools.nightly` writes it.
# `python -m tools.mutation --changed` tries the parts that have changed since.
"""


class NotComparableError(Exception):
    """There is no commit that the checkout can be compared with: the text says why."""


def write_passed(commit: str, words: str, root: Path = ROOT) -> None:
    """Record that the nightly run of a commit passed.

    Parameters
    ----------
    commit
        Full hash.
    words
        When, and how long it took: free text, written on one line.

    Raises
    ------
    ValueError
        If the hash is not a full one.
    """
    if not _FULL_HASH.fullmatch(commit):
        raise ValueError(f"not a full hash of a commit: {commit!r}")
    line = " ".join([commit, *words.split()])
    (root / PASSED).parent.mkdir(parents=True, exist_ok=True)
    (root / PASSED).write_text(f"{_HEAD}{line}\n", encoding="utf-8")


def passed_commit(root: Path = ROOT) -> str:
    """Return the full hash of the commit that the file names.

    Raises
    ------
    NotComparableError
        If there is no file or no full hash in it, or if the commit is not known to this
        clone, or not an ancestor of ``HEAD``.
    """
    commit = _named_commit(root)
    _git(root, "rev-parse", "--verify", "HEAD")
    if not _succeeds(root, "cat-file", "-e", f"{commit}^{{commit}}"):
        raise NotComparableError(
            f"this clone does not have {commit[:7]}, which {PASSED} names"
        )
    if not _succeeds(root, "merge-base", "--is-ancestor", commit, "HEAD"):
        raise NotComparableError(
            f"{commit[:7]}, which {PASSED} names, is not an ancestor of HEAD"
        )
    return commit


def files_changed_since(commit: str, root: Path = ROOT) -> frozenset[Path]:
    """Return the files that differ between a commit and the working tree.

    Deleted and untracked files count, ignored ones do not. Of a renamed file, both
    names are returned. Paths are relative to ``root``.

    Raises
    ------
    NotComparableError
        If git fails.
    """
    differ = ("diff", "--name-only", "--no-renames", "--relative", "-z", commit, "--")
    untracked = ("ls-files", "--others", "--exclude-standard", "-z")
    listed = [_git(root, *command) for command in (differ, untracked)]
    return frozenset(Path(name) for text in listed for name in text.split("\0") if name)


def _named_commit(root: Path) -> str:
    try:
        text = (root / PASSED).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NotComparableError(f"there is no {PASSED}") from None
    lines = (line.split() for line in text.splitlines())
    words = next((line for line in lines if line and line[0][0] != "#"), [""])
    if not _FULL_HASH.fullmatch(words[0]):
        raise NotComparableError(f"{PASSED} names no commit by its full hash")
    return words[0]


def _git(root: Path, *arguments: str) -> str:
    """Return the output of git.

    Raises
    ------
    NotComparableError
        If git fails, or cannot be started.
    """
    ran = _run_git(root, *arguments)
    if ran.returncode != 0:
        last = (ran.stderr.strip().splitlines() or ["no message"])[-1]
        raise NotComparableError(f"git {arguments[0]} fails: {last}")
    return ran.stdout


def _succeeds(root: Path, *arguments: str) -> bool:
    return _run_git(root, *arguments).returncode == 0


def _run_git(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["git", *arguments]
    try:
        return subprocess.run(
            command,
            cwd=root,
            check=False,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",  # names of files are bytes
        )
    except FileNotFoundError:
        raise NotComparableError("git is not installed") from None
