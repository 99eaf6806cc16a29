"""Find the face of all dec-min assignments: by the linear program, then in integers."""

from __future__ import annotations

from collections.abc import Iterator

from solver.exact import solve as solve_core
from solver.milp.case import Case
from solver.milp.chains import Face, Held, face_of
from solver.milp.increments import held_by, increments
from solver.milp.refusals import TooLargeError
from solver.milp.rounding import counts_of
from solver.milp.search import RUNS
from solver.milp.windows import group_sizes


def find_face(case: Case) -> Face | None:
    """Return all dec-min assignments; None if no dec-min one was found to start from.

    Whoever gives the first one, the prices that it leads to prove it (`face_of`).
    """
    for held in _dec_min(case):
        face = face_of(case.kinds.groups, held, case.members.capacity)
        if face is not None:
            return face
    return None


def _dec_min(case: Case) -> Iterator[Held]:
    """Yield what the linear program says if there is time, then what the core says."""
    if not case.limits.exceeded():
        yield from _by_program(case)
    counts = counts_of(case.kinds, solve_core(case.instance).require_assignment())
    by_core: dict[int, dict[int, int]] = {}
    for (k, c), count in counts.items():
        at = by_core.setdefault(case.kinds.kinds[k].group, {})
        at[c] = at.get(c, 0) + count
    yield by_core


def _by_program(case: Case) -> Iterator[Held]:
    try:
        request, flows = increments(case.kinds, case.members.capacity, case.limits)
    except TooLargeError:
        return
    held = held_by(case.kinds, flows, RUNS[case.backend](request))
    if _is_complete(case, held):
        yield held


def _is_complete(case: Case, held: Held) -> bool:
    """Tell whether rounded flows still give every partition once."""
    sizes = group_sizes(case.kinds)
    return all(
        min(by.values(), default=0) >= 0 and sum(by.values()) == sizes[group]
        for group, by in held.items()
    )
