"""Variables of a CP-SAT program: one integer per class and eligible member, and sums.

Each variable is added with the value that it has in a known solution, so that an
assignment is a complete hint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ortools.sat.python import cp_model
from ortools.sat.python.cp_model import CpModel, IntVar

from rebalance import NOBODY
from solver.cpsat.balance_region import CpRegion
from solver.cpsat.cp_instance import ClassCounts, CpClass, CpInstance, CpTotals

Linear = cp_model.LinearExpr
ValueIn = Callable[[CpTotals], int]


class CpProgram:
    """A CP-SAT model of an instance within a region.

    ``x[k][m]`` is the number of partitions of class k that member m holds.
    """

    def __init__(
        self, cp: CpInstance, region: CpRegion, check: Callable[[], None] = lambda: None
    ) -> None:
        """Add the variables; ``check`` is called now and then and can raise."""
        self.model = CpModel()
        self.cp = cp
        self.region = region
        self.interchangeable = interchangeable_members(cp)
        self.largest = cp.common * int(cp.first[-1])  # no sum in the model exceeds it
        self.x: list[dict[int, IntVar]] = []
        self.classes_of_pool: list[list[int]] = [[] for _ in cp.pools]
        self.check = check
        self._of_member: list[list[tuple[IntVar, int]]] = [[] for _ in cp.members]
        self._loads: dict[int, IntVar] = {}
        self._derived: list[tuple[IntVar, ValueIn]] = []
        for k, class_ in enumerate(cp.classes):
            self._add_class(k, class_)

    def _add_class(self, k: int, class_: CpClass) -> None:
        row: dict[int, IntVar] = {}
        for member in self.region.eligible[class_.pool]:
            most = min(class_.size, self.region.loads[member][1])
            row[member] = self.model.new_int_var(0, most, "")
            self._of_member[member].append((row[member], k))
        self.x.append(row)
        self.classes_of_pool[class_.pool].append(k)
        if k % 64 == 0:
            self.check()

    def derive(self, least: int, most: int, value_in: ValueIn) -> IntVar:
        """Add a variable and the function that computes its value in a solution."""
        self.largest = max(self.largest, most)
        variable = self.model.new_int_var(least, most, "")
        self._derived.append((variable, value_in))
        return variable

    def load(self, member: int) -> IntVar:
        """Return the load of a member: load[m] = sum over k of x[k, m]."""
        if member not in self._loads:
            least, most = self.region.loads[member]
            found = self.derive(least, most, lambda totals: totals.loads[member])
            self.model.add(total(x for x, _ in self._of_member[member]) == found)
            self._loads[member] = found
        return self._loads[member]

    def pool_load(self, pool: int, member: int, weight: int = 1) -> Linear:
        """Return weight · sum over k in the pool of x[k, m]."""
        held = [x for x, _ in self._in_pool(pool, member)]
        return Linear.weighted_sum(held, [weight] * len(held))

    def lag(self, member: int, weight: int = 1, *, pool: int | None = None) -> Linear:
        """Return weight · sum over k, or over k in one pool, of lag[k] · x[k, m]."""
        everywhere = self._of_member[member]
        held = everywhere if pool is None else self._in_pool(pool, member)
        lags = [(x, weight * lag) for x, k in held if (lag := self.cp.classes[k].lag)]
        return Linear.weighted_sum([x for x, _ in lags], [lag for _, lag in lags])

    def bound_spread(
        self, amounts: Iterable[Linear], top: IntVar, spread: Linear | int
    ) -> None:
        """Bound amounts: top - spread ≤ amount ≤ top.

        Once all counts are fixed, CP-SAT tries the least value of each variable first:
        of the top and of the spread, that is the right one. Of a bottom it would be 0,
        and the spread would fall one unit at a time, at no deterministic cost.
        """
        for amount in amounts:
            self.model.add(amount <= top)
            self.model.add(top <= amount + spread)

    def kept(self) -> Linear:
        """Return the number of partitions that stay: sum over k of x[k, owner[k]]."""
        return total(
            row[class_.owner]
            for class_, row in zip(self.cp.classes, self.x, strict=True)
            if class_.owner != NOBODY and class_.owner in row
        )

    def _in_pool(self, pool: int, member: int) -> list[tuple[IntVar, int]]:
        rows = ((self.x[k], k) for k in self.classes_of_pool[pool])
        return [(row[member], k) for row, k in rows if member in row]

    def hint(self, counts: ClassCounts) -> None:
        """Hint a solution, with the value of every variable, in canonical order."""
        counts = in_order(self.cp, self.interchangeable, counts)
        totals = CpTotals.of(self.cp, counts)
        numbers: list[int] = []
        values: list[int] = []
        for row, given in zip(self.x, counts, strict=True):
            numbers += [variable.index for variable in row.values()]
            values += [given.get(member, 0) for member in row]
        numbers += [variable.index for variable, _ in self._derived]
        values += [value_in(totals) for _, value_in in self._derived]
        # All at once: add_hint takes ten microseconds each.
        hint = self.model.proto.solution_hint
        hint.vars.clear()
        hint.values.clear()
        hint.vars.extend(numbers)
        hint.values.extend(values)

    def counts(self, value: Callable[[IntVar], int]) -> ClassCounts:
        """Return the class counts of a solution, from the values of the variables."""
        found = ({m: value(x) for m, x in row.items()} for row in self.x)
        return [{m: n for m, n in row.items() if n} for row in found]


def total(variables: Iterable[Linear]) -> Linear:
    """Return the sum of variables; the empty sum is 0."""
    return Linear.sum(list(variables))


def interchangeable_members(cp: CpInstance) -> list[list[int]]:
    """List the groups of two or more interchangeable members.

    Such members subscribe to the same pools, have the same capacity and rack, and own
    equally many partitions that differ in nothing but the owner. To exchange them,
    together with their owned partitions, changes only their loads, and only among them:
    it turns an allowed assignment into an allowed one of the same value. So a program
    needs only the assignments in which they are in canonical order, by decreasing load
    or lag.
    """
    owned: list[list[object]] = [[] for _ in cp.members]
    for pool, owner, lag, far, size in cp.classes:
        if owner != NOBODY:
            owned[owner].append((pool, lag, tuple(sorted(far)), size))
    groups: dict[object, list[int]] = {}
    for member, pools in enumerate(cp.pools_of_members()):
        rack = cp.racks[member] if cp.distinctions.racks else None
        about = (tuple(pools), cp.capacity[member], rack, tuple(owned[member]))
        groups.setdefault(about, []).append(member)
    return [group for group in groups.values() if len(group) > 1]


def in_order(
    cp: CpInstance, groups: list[list[int]], counts: ClassCounts
) -> ClassCounts:
    """Exchange interchangeable members, with their claims, into canonical order."""
    totals = CpTotals.of(cp, counts)
    rank = totals.lags if cp.distinctions.lags else totals.loads
    place = list(range(len(cp.members)))
    for group in groups:
        decreasing = sorted(group, key=lambda m: -rank[m])
        for to, member in zip(group, decreasing, strict=True):
            place[member] = to
    number = {class_[:4]: k for k, class_ in enumerate(cp.classes)}
    ordered: ClassCounts = [{} for _ in counts]
    for class_, given in zip(cp.classes, counts, strict=True):
        owner = class_.owner if class_.owner == NOBODY else place[class_.owner]
        to = number[class_.pool, owner, class_.lag, class_.far]
        ordered[to] = {place[member]: count for member, count in given.items()}
    return ordered
