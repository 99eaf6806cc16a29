"""Min-cost flow with general costs by OR-Tools; a child process where it is large.

`SimpleMinCostFlow` (cost scaling) holds Python's global lock until it ends and cannot
be interrupted. So a large flow runs in a child process, which a limit can kill. The
child executes this file as a script and imports nothing of this project.
"""

from __future__ import annotations

import os
import subprocess
import sys
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray
from ortools.graph.python.min_cost_flow import SimpleMinCostFlow

if TYPE_CHECKING:
    from solver.limits import Limits

Int64 = NDArray[np.int64]

ARCS_IN_PROCESS: Final = 30_000
"""So many take 0.1 to 0.3 s, as much as the start of a process."""


def min_cost_flow(arcs: Int64, supply: Int64) -> Int64:
    """Return a flow of least cost.

    Parameters
    ----------
    arcs : int64 (4, A)
        Tail, head, capacity and cost per unit.
    supply : int64 (N,)
        Amount that each node sends; below 0 the amount that it receives.

    Returns
    -------
    int64 (A,)
        On each arc; empty if the library finds none or its numbers overflow.
    """
    tail, head, capacity, cost = arcs
    flow = SimpleMinCostFlow()
    flow.add_arcs_with_capacity_and_unit_cost(
        tail.astype(np.int32), head.astype(np.int32), capacity, cost
    )
    flow.set_nodes_supplies(np.arange(supply.size, dtype=np.int32), supply)
    if flow.solve() != flow.OPTIMAL:
        return np.zeros(0, np.int64)
    return np.asarray(flow.flows(np.arange(tail.size)), np.int64)


def limited_min_cost_flow(arcs: Int64, supply: Int64, limits: Limits) -> Int64:
    """Return a flow of least cost, as `min_cost_flow` does, within limits.

    Raises
    ------
    LimitExceededError
        If a limit is reached, or the child process is ended from outside.
    """
    # Not at the top, where the child process would import them too.
    from solver.limits import LimitExceededError  # noqa: PLC0415
    from solver.run_limited import exceeded_limits, killed_on_exit  # noqa: PLC0415

    limits.check()
    if arcs.shape[1] <= ARCS_IN_PROCESS:
        return min_cost_flow(arcs, supply)
    # Files, not pipes: the arrays are larger than the buffer of a pipe.
    with TemporaryFile() as source, TemporaryFile() as sink:
        np.save(source, arcs, allow_pickle=False)
        np.save(source, supply, allow_pickle=False)
        source.seek(0)
        process = _start_child(source, sink)
        with killed_on_exit(process):
            for exceeded in exceeded_limits(process, limits):
                raise LimitExceededError(exceeded)
        sink.seek(0)
        try:
            return np.asarray(np.load(sink, allow_pickle=False), np.int64)
        except (ValueError, EOFError):
            reason = "the process that counts racks was ended from outside"
            raise LimitExceededError(reason) from None


def _start_child(source: IO[bytes], sink: IO[bytes]) -> subprocess.Popen[bytes]:
    """Run this file in a session of its own: Ctrl-C is for the parent alone."""
    return subprocess.Popen(  # noqa: S603 - this Python, and a file of our own
        [sys.executable, "-P", __file__],
        stdin=source,
        stdout=sink,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


if __name__ == "__main__":
    given_arcs = np.load(sys.stdin.buffer, allow_pickle=False)
    given_supply = np.load(sys.stdin.buffer, allow_pickle=False)
    np.save(sys.stdout.buffer, min_cost_flow(given_arcs, given_supply))
