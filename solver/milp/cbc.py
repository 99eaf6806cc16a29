"""CBC, a program of its own that comes with PuLP; it is given files and read back.

Nothing it writes reaches a terminal. Its folder is removed however it ends; when it has
to be killed, what it had found by then is lost. Its preprocessing is off: with
tolerances as tight as ours it comes back with solutions that break rows.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Final

import pulp

from rebalance.errors import OutsideError
from solver.milp.backend import TOLERANCE, End, Request, Run, nodes_of
from solver.run_limited import exceeded_limits, killed_on_exit

GRACE: Final = 0.5
"""Seconds: how late CBC may be on its own."""

PRINTED: Final = 1e-3
"""CBC prints its bound with three decimals."""

_VERSION: Final = re.compile(r"^Version:\s*(\S+)", re.MULTILINE)
_BOUND: Final = re.compile(r"^Lower bound:\s*(\S+)", re.MULTILINE)
_VALUE: Final = re.compile(r"objective value\s+(\S+)")
_LINE: Final = re.compile(r"^\s*(?:\*\*)?\s*\d+\s+(X\d+)\s+(\S+)\s+\S+\s*$")


@cache
def version() -> str:
    """Return CBC's name and version.

    Raises
    ------
    OutsideError
        If there is no CBC for this machine, or it does not run.
    """
    try:
        done = subprocess.run(  # noqa: S603 - PuLP's own binary
            [_binary(), "-quit"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _unfit(str(error)) from None
    found = _VERSION.search(done.stdout.decode(errors="replace"))
    if found is None:
        raise _unfit(f"exit code {done.returncode}")
    return f"cbc {found[1]}"


def run(request: Request) -> Run:
    """Minimize a program.

    Raises
    ------
    OutsideError
        If CBC does not run on this machine.
    """
    solver = _Watched(request)
    try:
        request.lp.solve(solver)
    except OSError as error:
        raise _unfit(str(error)) from None
    return solver.run


def _binary() -> str:
    return str(pulp.PULP_CBC_CMD.pulp_cbc_path)


def _unfit(reason: str) -> OutsideError:
    return OutsideError(
        f"CBC, as it comes with PuLP, does not run on this machine ({reason}); "
        "HiGHS answers the same policies"
    )


class _Watched(pulp.PULP_CBC_CMD):  # type: ignore[misc]
    """PuLP's CBC: watched while it runs, and its bound kept."""

    def __init__(self, request: Request) -> None:
        super().__init__(msg=False, _skip_v4_deprecation=True)
        self.run = Run(end=End.FAILED)
        self._request = request

    def actualSolve(self, lp: pulp.LpProblem) -> int:  # noqa: N802 - PuLP's name
        """Write the program, run CBC, read what it wrote."""
        with tempfile.TemporaryDirectory(prefix="oracle-cbc-") as folder:
            model, found = Path(folder, "model.mps"), Path(folder, "found")
            log = Path(folder, "log")
            columns, renamed, *_ = lp.writeMPS(str(model), rename=1)
            command = [_binary(), str(model), *self._options(), "-solution", str(found)]
            with log.open("wb") as sink:
                killed = self._watch(command, sink.fileno())
            if not killed and found.exists():
                names = {renamed[var.name]: var.name for var in columns}
                self.run = _read(found.read_text(), log.read_text(), names)
            elif killed:
                self.run = Run(end=End.STOPPED)
        return int(pulp.LpStatusNotSolved)

    def _options(self) -> list[str]:
        limits = self._request.limits
        told = {
            "timeMode": "elapsed",
            "preprocess": "off",
            "ratio": 0,
            "allow": 0,
            "primalT": TOLERANCE,
            "dualT": TOLERANCE,
            "integerT": TOLERANCE,
            "randomC": limits.seed % 2**31,
            "threads": 0 if limits.workers == 1 else limits.workers,
            "sec": None if limits.left is None else max(0.95 * limits.left, 0.01),
            "maxNodes": nodes_of(limits),
        }
        words = [(f"-{k}", str(v)) for k, v in told.items() if v is not None]
        how = "-initialSolve" if self._request.relaxed else "-solve"
        return [*(word for pair in words for word in pair), how]

    def _watch(self, command: list[str], log: int) -> bool:
        """Run to the end, or kill it when a limit has struck and it goes on."""
        limits, end = self._request.limits, None
        process = subprocess.Popen(  # noqa: S603 - PuLP's own binary
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        with killed_on_exit(process):
            for _ in exceeded_limits(process, limits):
                end = end or time.monotonic() + GRACE
                # A time limit it knows of itself, and ends with a solution.
                timed = limits.left == 0 and not limits.stop.is_set()
                if not timed or time.monotonic() > end:
                    return True
        return False


def _read(found: str, log: str, names: dict[str, str]) -> Run:
    """Read CBC's solution and its log; whatever does not fit is a failure."""
    first, _, rest = found.partition("\n")
    if first.startswith(("Infeasible", "Integer infeasible")):
        return Run(end=End.EMPTY)
    told = _VALUE.search(first)
    value = None if told is None else _number(told[1])
    if first.startswith("Optimal") and value is not None:
        values = _values(rest, names)
        if values is not None:
            return Run(end=End.DONE, values=values, bound=value)
    if first.startswith("Stopped"):
        bound = _BOUND.search(log)
        least = None if bound is None else _number(bound[1])
        return Run(
            end=End.STOPPED,
            values=None if "no integer" in first else _values(rest, names),
            bound=None if least is None else least - PRINTED,
        )
    return Run(end=End.FAILED)


def _values(lines: str, names: dict[str, str]) -> dict[str, float] | None:
    """Read the columns that are not 0; rows are skipped, which have other names."""
    values = dict.fromkeys(names.values(), 0.0)
    for line in lines.splitlines():
        parts = _LINE.match(line)
        if parts and parts[1] in names:
            value = _number(parts[2])
            if value is None:
                return None
            values[names[parts[1]]] = value
    return values


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) and abs(value) < 1e49 else None
