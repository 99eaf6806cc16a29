"""The min-cost flow of OR-Tools on columns; also a program of its own.

It holds Python's lock from its beginning to its end, and cannot be told to stop. So
where it takes long it runs as a process that can be killed (`apart`).
Started that way it imports what it needs and nothing of this project.
"""

from __future__ import annotations

import sys
from typing import IO, Final

import numpy as np
from numpy.typing import NDArray
from ortools.graph.python import min_cost_flow

COLUMNS: Final = 4  # tail, head, room, cost


def flow_of(arcs: NDArray[np.int64], supply: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a cheapest flow.

    Parameters
    ----------
    arcs : int64 (4, A)
        Tail, head, room and cost of a unit.
    supply : int64 (N,)
        What each node sends; below 0 what it takes.

    Returns
    -------
    int64 (A,)
        On each arc; empty if the library cannot say.
    """
    tail, head, room, cost = arcs
    flow = min_cost_flow.SimpleMinCostFlow()
    flow.add_arcs_with_capacity_and_unit_cost(
        tail.astype(np.int32), head.astype(np.int32), room, cost
    )
    flow.set_nodes_supplies(np.arange(supply.size, dtype=np.int32), supply)
    if flow.solve() != flow.OPTIMAL:
        return np.zeros(0, np.int64)
    return np.asarray(flow.flows(np.arange(tail.size)), np.int64)


def write(sink: IO[bytes], *columns: NDArray[np.int64]) -> None:
    """Write arrays, one after the other."""
    for column in columns:
        np.save(sink, column, allow_pickle=False)


def read(source: IO[bytes], count: int) -> list[NDArray[np.int64]]:
    """Read so many arrays; raises ValueError or EOFError if they are not there."""
    return [np.load(source, allow_pickle=False) for _ in range(count)]


def main() -> None:
    """Read arcs and supply from standard input, write the flow to standard output."""
    arcs, supply = read(sys.stdin.buffer, 2)
    write(sys.stdout.buffer, flow_of(arcs, supply))


if __name__ == "__main__":
    main()
