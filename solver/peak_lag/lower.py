"""Lower the peak: exchanges towards the bound, then what lies between, then CP-SAT.

Rounds of growing effort, counted in steps and not in seconds; the clock and the other
limits are looked at between pieces of a fraction of a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import count

import numpy as np

from rebalance.claims import Int32
from solver.peak_lag.asking import ask
from solver.peak_lag.busy import Busy, busy_of
from solver.peak_lag.cover import NAME, Cover
from solver.peak_lag.hands import hands_of, peak_with
from solver.peak_lag.packing import Packing, is_packing
from solver.peak_lag.question import ENGINE, Goal, Question, fits
from solver.peak_lag.setting import Setting
from solver.peak_lag.settle import settle
from solver.peak_lag.work import STEPS_A_UNIT, Work

_EFFORT = 100_000_000  # steps of the first round: about a tenth of a second
_PIECE = 50_000_000
_ROUNDS = 5  # when no search can end it and no limit is set
_WORK = 0.25  # deterministic seconds of the first search


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowered:
    """The least peak lag known, and what none is below.

    Attributes
    ----------
    holder : int32 (P,)
    value, bound : int
        In units of 1 ÷ scale.
    packing : Packing or None
        What proves some of the bound, if that was needed.
    engine : str
        Whose word the rest of it is.
    """

    holder: Int32
    value: int
    bound: int
    packing: Packing | None = None
    engine: str = ENGINE


def lower(
    setting: Setting,
    start: Int32,
    bound: int,
    work: Work,
    *,
    moves: int | None = None,
) -> Lowered:
    """Lower the peak of an assignment until it meets the bound, or a limit strikes.

    Parameters
    ----------
    start : int32 (P,)
    bound : int
        No peak is below it.
    moves : int or None
        Where a level before has settled the moves: no more than these. ``start`` has
        so many.
    """
    descent = _Descent(setting, start, bound, work, moves)
    descent.run()
    return Lowered(
        holder=descent.holder,
        value=descent.peak,
        bound=descent.bound,
        packing=descent.packing,
        engine=descent.engine,
    )


class _Descent:
    """The best so far, and the ways to better it."""

    def __init__(
        self,
        setting: Setting,
        start: Int32,
        bound: int,
        work: Work,
        moves: int | None,
    ) -> None:
        room = setting.room
        self.setting, self.room, self.work = setting, room, work
        self.bound, self.holder = bound, start
        self.within = {} if moves is None else {Goal.MOVES: moves}
        self.owner = setting.owner if moves is not None else np.zeros(0, np.int32)
        self.peak = int(peak_with(room, start))
        self.total = int(room.lag.sum())
        self.seeds = count(work.limits.seed)
        self.fits = fits(setting)
        self.packing: Packing | None = None
        self.engine = ENGINE
        self.busy = None if self.within else busy_of(room)
        self.is_busy = False

    @property
    def is_over(self) -> bool:
        return self.peak <= self.bound or self.work.exceeded() is not None

    def run(self) -> None:
        """Alternate, each round with twice the effort of the one before."""
        if self.within:  # little is free to be exchanged, and much is settled
            self.search(_WORK)
        else:
            self.cover()
            if is_packing(self.setting):
                self.settle_to(self.bound, _EFFORT // 16)
                self.pack()
        for turn in count():
            steps = (
                partial(self.settle_to, self.bound, _EFFORT << turn),
                partial(self.search, _WORK * 2**turn),
                partial(self.halve, (_EFFORT << turn) // 4),
            )
            for step in steps:
                if self.is_over:
                    return
                step()
            if not self.fits and self.work.is_open and turn >= _ROUNDS:
                return

    def settle_to(self, target: int, effort: int) -> bool:
        """Try to reach a peak; keep whatever is better than the best.

        Every other round without what has no lag, where most is such.
        """
        self.is_busy = not self.is_busy
        busy = self.busy if self.is_busy else None
        if busy is not None and not busy.may_hold(self.holder):
            busy = None
        room = self.room if busy is None else busy.room
        holder = self.holder if busy is None else self.holder[busy.rows]
        hands = hands_of(room, holder)
        cap = np.minimum(target // room.unit, self.total)
        piece = min(effort, _PIECE) + 50_000 * cap.size
        while effort > 0 and self.work.exceeded() is None:
            effort -= piece
            seed = next(self.seeds) % 2**31
            found = settle(room, hands, self.owner, cap, seed, piece)
            self.work.spent += int(found.spent) / STEPS_A_UNIT
            self.keep(found.holder, int(found.peak), busy)
            if found.over == 0:
                return True
        return False

    def halve(self, effort: int) -> None:
        """Aim between bound and best, closer to the one or the other as it goes."""
        low = self.bound
        while low < self.peak and not self.is_over:
            middle = (low + self.peak) // 2
            if not self.settle_to(middle, effort):
                low = middle + 1

    def cover(self) -> None:
        """Come closer from the bound on, while there are few hands to try."""
        if self.is_over:
            return
        cover = Cover(self.setting)
        unit, step = int(self.room.unit[0]), 0
        while cover.is_small and not self.is_over:
            low, high = -(-self.bound // unit), self.peak // unit
            peak = min(low + step, high - 1)
            holder, is_settled = cover.holder(peak, self.work)
            if holder is not None:
                self.keep(holder, int(peak_with(self.room, holder)))
            elif is_settled:
                self.bound, self.engine = (peak + 1) * unit, NAME
            else:
                return
            step = 2 * step + 1

    def pack(self) -> None:
        """Find out how far down the relaxed packing problem allows to go."""
        # Imported when needed: solvers take a second to load.
        from solver.peak_lag.pack import packed  # noqa: PLC0415

        if self.is_over:
            return
        found = packed(self.setting, self.bound, self.peak, self.work)
        if found.packing is not None:
            self.packing, self.bound = found.packing, found.packing.bound
        if found.holder is not None:
            self.keep(found.holder, int(peak_with(self.room, found.holder)))

    def search(self, effort: float) -> None:
        """Ask CP-SAT for something better, or that there is nothing."""
        if self.is_over or not self.fits:
            return
        question = Question(
            goal=Goal.PEAK, beat=self.peak, bound=self.bound, within=self.within
        )
        found = ask(self.setting, self.holder, question, self.work, effort)
        if found.holder is not None:
            self.keep(found.holder, int(peak_with(self.room, found.holder)))
        if found.bound > self.bound:
            self.bound, self.engine = found.bound, ENGINE

    def keep(self, holder: Int32, peak: int, busy: Busy | None = None) -> None:
        """Remember what is better."""
        if peak >= self.peak:
            return
        whole = holder.copy() if busy is None else busy.filled(holder)
        if whole is not None:
            self.holder, self.peak = whole, peak
