"""Run the command as operators do: as a user who owns nothing of the installation.

The user has no name, no home, and no folder to write to but a temporary one. A process
of root only can become another user; elsewhere the tests are skipped, which
`tests.support.lacking` lists.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
NOBODY = 65534
NAMELESS = 12345
"""An id without an entry in ``/etc/passwd``, as containers often have."""

_PYTHON = ("sh", "-c", 'exec "$0" --version', sys.executable)
"""By a shell, because setpriv itself still finds what only root can read."""


def lacking_for_other_users() -> str | None:
    """Return why no command can be run as another user; None if one can."""
    if os.geteuid() != 0:
        return "root, to run commands as another user"
    if shutil.which("setpriv") is None:
        return "setpriv (util-linux), to run commands as another user"
    if not _succeeds((*as_user(NAMELESS), "ls", str(ROOT))):
        return f"a checkout that other users can read ({ROOT})"
    if not _succeeds((*as_user(NAMELESS), *_PYTHON)):
        return f"a Python that other users can run ({sys.executable})"
    return None


def as_user(user: int) -> list[str]:
    """Return the start of a command that runs another one as a user.

    Where Python itself is in a folder of root, as pyenv's is, the user can read all
    files, and write none that others could not.
    """
    words = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    if not _succeeds((*words, *_PYTHON)):
        words += [f"--{which}-caps=+dac_read_search" for which in ("inh", "ambient")]
    return words


@cache
def _succeeds(command: tuple[str, ...]) -> bool:
    return not subprocess.run(command, capture_output=True, check=False).returncode


@dataclass(frozen=True, slots=True)
class OtherUser:
    """A user; ``folder`` is one to read, ``out`` one to write to."""

    user: int
    folder: Path
    out: Path

    def run(
        self,
        *command: str | Path,
        text: str | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in a folder that is not writable, without a home.

        A user with a name is told of one that is absent, another of none.
        """
        environment = {"PATH": os.environ["PATH"]}
        if self.user != NAMELESS:
            environment["HOME"] = "/nonexistent"
        if java := os.environ.get("JAVA_HOME"):
            environment["JAVA_HOME"] = java
        return subprocess.run(
            [*as_user(self.user), *map(str, command)],
            cwd=self.folder,
            env=environment | dict(variables or {}),
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )

    def oracle(
        self, *arguments: str | Path, text: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run the installed command, of this checkout."""
        command = Path(sys.executable).parent / "assignor-oracle"
        variables = {"PYTHONPATH": str(ROOT)}
        return self.run(command, *arguments, text=text, variables=variables)

    def python(self, code: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run Python code that imports from this checkout."""
        found = {"PYTHONPATH": str(ROOT), **variables}
        return self.run(sys.executable, "-c", code, variables=found)

    def kept(self) -> Path:
        """Return what the user's commands keep for the next one, in `tempfile`'s."""
        return Path("/tmp") / f"assignor-oracle-{self.user}"  # noqa: S108


@contextmanager
def other_user(user: int) -> Iterator[OtherUser]:
    """Make the folders of a user, and remove them with what commands have kept."""
    with TemporaryDirectory(prefix="other-user-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        out = folder / "out"
        out.mkdir()
        os.chown(out, user, user)
        made = OtherUser(user, folder, out)
        shutil.rmtree(made.kept(), ignore_errors=True)
        try:
            yield made
        finally:
            shutil.rmtree(made.kept(), ignore_errors=True)
