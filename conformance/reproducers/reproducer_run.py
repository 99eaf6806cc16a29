"""Run a reproducer once, and read whether it shows its finding.

A reproducer shows its finding if the test runner reports that a test failed, and the
message of the failure names the category. A test that does not compile, or fails for
another reason, confirms nothing.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from conformance.clients.installed import clients_folder
from conformance.reproducers.rendering import Reproducer
from conformance.reproducers.runners import runner_of

SECONDS: Final = 180.0
"""Time limit of a command; compiling a Go client takes most of it, the first time."""

SHOWN_LINES: Final = 12
_DURATION: Final = re.compile(r"\d+(\.\d+)?(?= ?m?s\b)|(?<=duration_ms: )[\d.]+")
_SHOWN: Final = re.compile(r"finding: ([a-z0-9-]+)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReproducerRun:
    """Result of a run of a reproducer.

    Attributes
    ----------
    result
        ``shown``: the test fails with its finding; ``passed``: it passes; ``other``: it
        fails for another reason; ``late``: it did not end in time.
    output
        The last lines of the runner.
    """

    result: Literal["shown", "passed", "other", "late"]
    output: str

    @property
    def confirmed(self) -> bool:
        """Whether the reproducer shows its finding."""
        return self.result == "shown"


def confirm(reproducer: Reproducer, *, seconds: float = SECONDS) -> ReproducerRun:
    """Run a reproducer in a temporary folder.

    Raises
    ------
    MissingClientError
        If the client is not installed on this machine.
    OutsideError
        If the test runner cannot be started.
    """
    with tempfile.TemporaryDirectory(prefix="reproducer-") as temporary:
        folder = Path(temporary)
        for name, text in reproducer.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        runner = runner_of(reproducer, folder)
        code, output = 0, ""
        for command in runner.commands:
            ended = _run(command, folder, runner.environment, seconds=seconds)
            if ended is None:
                return ReproducerRun(
                    result="late", output=f"no end after {seconds:g} s"
                )
            code, output = ended
            if code and command is not runner.commands[-1]:
                return ReproducerRun(result="other", output=_last(output, folder))
        category = reproducer.case.category.value
        return ReproducerRun(
            result=_result(code, runner.failed, output, category),
            output=_last(output, folder),
        )


def _result(
    code: int, failed: int, output: str, category: str
) -> Literal["shown", "passed", "other"]:
    if code == 0:
        return "passed"
    named = _SHOWN.search(output)
    is_shown = code == failed and named is not None and named[1] == category
    return "shown" if is_shown else "other"


def _run(
    command: tuple[str, ...],
    folder: Path,
    environment: Mapping[str, str | None],
    *,
    seconds: float,
) -> tuple[int, str] | None:
    """Return exit code and output; None if the command is late, and was killed."""
    variables = {**os.environ, **environment}
    process = subprocess.Popen(  # noqa: S603  # a test runner, and a rendered test
        command,
        cwd=folder,
        env={name: value for name, value in variables.items() if value is not None},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None
    return process.returncode, output


def _last(output: str, folder: Path) -> str:
    """Return the lines around the finding, else the last, without durations."""
    plain = output.replace(f"{folder}/", "").replace(str(folder), "")
    plain = plain.replace(f"{clients_folder()}/", "")
    lines = [_DURATION.sub("…", line.rstrip()) for line in plain.splitlines()]
    lines = [line for line in lines if line.strip()]
    shown = [i for i, line in enumerate(lines) if "finding: " in line]
    start = max(0, shown[0] - SHOWN_LINES // 2) if shown else -SHOWN_LINES
    return "\n".join(lines[start:][:SHOWN_LINES])
