"""The program of a balance and a budget: which constraints, in which order."""

from __future__ import annotations

from collections.abc import Iterator

from solver.milp.case import Case
from solver.milp.constraints import (
    alike_in_order,
    each_partition_once,
    loads_between,
    loads_within,
    moves_within,
    no_transfer_evens,
    quotas_kept,
)
from solver.milp.program import Program
from solver.milp.quotas import Quota, quotas_of
from solver.policy import Balance, BalanceKind


def written(case: Case, balance: Balance, budget: int | None) -> Program:
    """Write the program of a balance, and of a budget if there is one.

    Raises
    ------
    LimitExceededError, TooLargeError
        If a limit strikes meanwhile, or doubles do not hold a number of it.
    """
    groups = case.kinds.groups if case.face is None else case.face.seats
    program = Program(
        case.kinds, [groups[kind.group] for kind in case.kinds.kinds], case.limits
    )
    each_partition_once(program)
    _balance(case, program, balance)
    if budget is not None:
        moves_within(program, budget)
    alike_in_order(program, case.alike)
    return program


def _balance(case: Case, program: Program, balance: Balance) -> None:
    match balance.kind:
        case BalanceKind.DEC_MIN if case.face is not None:
            loads_between(program, case.face.low, case.face.high)
        case BalanceKind.KIP54:
            no_transfer_evens(program)
        case BalanceKind.PER_TOPIC:
            quotas_kept(program, _quotas(case))
        case BalanceKind.SPREAD:
            most = (balance.most or 0) * case.members.common
            loads_within(program, units(case), most)
        case _:
            pass


def units(case: Case) -> list[int | None]:
    """Return what one partition weighs with each member; None if not in play."""
    play = set(case.members.play)
    return [
        case.members.unit(c) if c in play else None for c in range(case.kinds.members)
    ]


def _quotas(case: Case) -> Iterator[Quota]:
    sizes: dict[int, int] = {}
    takers: dict[int, tuple[int, ...]] = {}
    for kind in case.kinds.kinds:
        sizes[kind.topic] = sizes.get(kind.topic, 0) + kind.count
        takers[kind.topic] = case.kinds.takers(kind)
    for topic, size in sizes.items():
        yield from quotas_of(topic, takers[topic], case.members.capacity, size)
