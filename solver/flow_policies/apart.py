"""A flow in a process of its own, which a limit can end."""

from __future__ import annotations

import os
import subprocess
import sys
from tempfile import TemporaryFile
from typing import IO, Final

from rebalance.claims import Int64
from solver.flow_policies import mincost
from solver.limits import LimitExceededError, Limits
from solver.run_limited import exceeded_limits, killed_on_exit

ARCS_HERE: Final = 30_000
"""So many take 0.1 to 0.3 s, which is what it takes to start a process."""


def flow_within(arcs: Int64, supply: Int64, limits: Limits) -> Int64:
    """Return a cheapest flow, as `mincost.flow_of` does, within limits.

    Raises
    ------
    LimitExceededError
        If a limit strikes first, or what does the work is ended by somebody else.
    """
    limits.check()
    if arcs.shape[1] <= ARCS_HERE:
        return mincost.flow_of(arcs, supply)
    # Files, not pipes: the columns are larger than what a pipe holds.
    with TemporaryFile() as given, TemporaryFile() as found:
        mincost.write(given, arcs, supply)
        given.seek(0)
        process = _start(given, found)
        with killed_on_exit(process):
            for struck in exceeded_limits(process, limits):
                raise LimitExceededError(struck)
        found.seek(0)
        try:
            (flow,) = mincost.read(found, 1)
        except (ValueError, EOFError):
            raise LimitExceededError(
                "what counts racks was ended from outside"
            ) from None
        return flow


def _start(given: IO[bytes], found: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start it deaf to Ctrl-C, which is for us."""
    return subprocess.Popen(  # noqa: S603 - this Python, and a file of our own
        [sys.executable, "-P", mincost.__file__],
        stdin=given,
        stdout=found,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
