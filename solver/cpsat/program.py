"""The program: an integer a kind and seat, and what is derived from them.

Whoever adds a variable says what it is worth in a given plan, so that a known
assignment is a complete hint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ortools.sat.python import cp_model
from ortools.sat.python.cp_model import CpModel, IntVar

from solver.cpsat.alike import alike_members, arranged
from solver.cpsat.face import Face
from solver.cpsat.plan import Plan, Tally
from solver.cpsat.problem import Kind, Problem

Linear = cp_model.LinearExpr
Worth = Callable[[Tally], int]


class Program:
    """A CP-SAT model of a problem on a face.

    Attributes
    ----------
    model : CpModel
    problem : Problem
    face : Face
    kinds : list of Kind
    x : list of dict
        ``x[k][m]``: how many partitions of kind k go to member m.
    alike : list of list of int
    largest : int
        What no sum in the model is above.
    """

    def __init__(
        self, problem: Problem, face: Face, check: Callable[[], None] = lambda: None
    ) -> None:
        """Create the variables; ``check`` is called now and then and may raise."""
        self.model = CpModel()
        self.problem = problem
        self.face = face
        self.kinds: list[Kind] = list(problem.kinds)
        self.alike = alike_members(problem)
        self.largest = problem.common * int(problem.first[-1])
        self.x: list[dict[int, IntVar]] = []
        self.kinds_of_pool: list[list[int]] = [[] for _ in problem.pools]
        self._held: list[list[tuple[IntVar, int]]] = [[] for _ in problem.members]
        self._loads: dict[int, IntVar] = {}
        self._worth: list[tuple[IntVar, Worth]] = []
        self.check = check
        for number, kind in enumerate(self.kinds):
            self._add_kind(number, kind)

    def _add_kind(self, number: int, kind: Kind) -> None:
        row: dict[int, IntVar] = {}
        for member in self.face.seats[kind.pool]:
            most = min(kind.amount, self.face.loads[member][1])
            row[member] = self.model.new_int_var(0, most, "")
            self._held[member].append((row[member], number))
        self.x.append(row)
        self.kinds_of_pool[kind.pool].append(number)
        if number % 64 == 0:
            self.check()

    def define(self, least: int, most: int, worth: Worth) -> IntVar:
        """Add a variable that is worth so much in a plan."""
        self.largest = max(self.largest, most)
        variable = self.model.new_int_var(least, most, "")
        self._worth.append((variable, worth))
        return variable

    def load(self, member: int) -> IntVar:
        """Return the load of a member: load[m] = sum over k of x[k, m]."""
        if member not in self._loads:
            least, most = self.face.loads[member]
            found = self.define(least, most, lambda tally: tally.loads[member])
            self.model.add(total(x for x, _ in self._held[member]) == found)
            self._loads[member] = found
        return self._loads[member]

    def lag(self, member: int, weight: int = 1) -> Linear:
        """Return weight times the lag of a member: sum over k of lag[k] · x[k, m]."""
        return total(
            (x for x, k in self._held[member] if self.kinds[k].lag),
            (
                weight * self.kinds[k].lag
                for _, k in self._held[member]
                if self.kinds[k].lag
            ),
        )

    def pool_load(self, pool: int, member: int, weight: int = 1) -> Linear:
        """Return weight times what a member holds of a pool."""
        held = [
            self.x[k][member] for k in self.kinds_of_pool[pool] if member in self.x[k]
        ]
        return total(held, [weight] * len(held))

    def pool_lag(self, pool: int, member: int, weight: int = 1) -> Linear:
        """Return weight times the lag that a member gets of a pool."""
        kinds = [
            k
            for k in self.kinds_of_pool[pool]
            if member in self.x[k] and self.kinds[k].lag
        ]
        return total(
            (self.x[k][member] for k in kinds),
            (weight * self.kinds[k].lag for k in kinds),
        )

    def suggest(self, plan: Plan) -> None:
        """Make a plan the hint, every variable included, in the order of the alike."""
        plan = arranged(self.problem, self.alike, plan)
        tally = Tally.of(self.problem, plan)
        numbers: list[int] = []
        values: list[int] = []
        for row, given in zip(self.x, plan, strict=True):
            numbers += [variable.index for variable in row.values()]
            values += [given.get(member, 0) for member in row]
        numbers += [variable.index for variable, _ in self._worth]
        values += [worth(tally) for _, worth in self._worth]
        # All at once: add_hint takes ten microseconds each.
        hint = self.model.proto.solution_hint
        hint.vars.clear()
        hint.values.clear()
        hint.vars.extend(numbers)
        hint.values.extend(values)

    def plan(self, value: Callable[[IntVar], int]) -> Plan:
        """Read the plan out of the values of the variables."""
        read = ({m: value(x) for m, x in row.items()} for row in self.x)
        return [{m: n for m, n in row.items() if n} for row in read]


def reaches(member: int, least: int) -> Worth:
    """Tell whether a load is at least so much, as 0 or 1."""
    return lambda tally: int(tally.loads[member] >= least)


def total(variables: Iterable[Linear], weights: Iterable[int] | None = None) -> Linear:
    """Add variables up, each times its weight; nothing adds up to 0."""
    if weights is None:
        return Linear.sum(list(variables))
    return Linear.weighted_sum(list(variables), list(weights))
