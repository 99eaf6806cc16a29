"""All answers to one problem, each with the judge's verdict on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import orjson

from heuristics import ASSIGNORS
from rebalance import ClaimRule, Instance, instance_of, to_json
from rebalance.assignment import document_of
from rebalance.documents import AssignmentDocument, Rebalance
from solver import solve
from solver.limits import Limits
from solver.policy import NAMED
from solver.solving import solve_policy
from verify import Case as JudgedCase
from verify import judge_case, peak_lag_bound, understand

ACTUAL: Final = "actual"
OPTIMUM: Final = "optimum"
KIP54: Final = "kip54-sticky"
"""The best by KIP-54's own balance: what a StickyAssignor may at best achieve."""
KIP54_EFFORT: Final = 5.0
"""How long a search for it may take, in CP-SAT's own units, about seconds each."""

Document: TypeAlias = dict[str, Any]
Held: TypeAlias = Mapping[str, list[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """One assignor's answer; ``text`` and ``verdict`` are None when it refused."""

    assignor: str
    refused: str | None = None
    text: bytes | None = None
    status: str | None = None
    verdict: Document | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An assignor that fell over; the others go on."""

    assignor: str
    reason: str


class Problem:
    """One rebalance, laid out for the engines and for the judge."""

    def __init__(self, document: Rebalance, claim_rule: ClaimRule) -> None:
        self.instance: Instance = instance_of(document, claim_rule=claim_rule)
        plain = document.model_dump(exclude_none=True)
        self._case: JudgedCase = understand(plain, claim_rule=claim_rule.value)

    @property
    def by_capacity(self) -> bool:
        """Whether members state capacities, so that balance is load ÷ capacity."""
        return self.instance.capacity is not None

    @property
    def peak_lag_bound(self) -> int | None:
        """What no valid assignment's peak lag is below; None without lag."""
        return peak_lag_bound(self._case)

    def actual(
        self, held: Mapping[str, Held], *, assignor: str | None, cooperative: bool
    ) -> Answered:
        """Judge what the real client gave."""
        document: Document = {
            "format": "assignment/1",
            "group": self.instance.group,
            "members": held,
        }
        if self.instance.id is not None:
            document["id"] = self.instance.id
        if assignor is not None:
            document["assignor"] = assignor
        text = orjson.dumps(document, option=orjson.OPT_SORT_KEYS)
        verdict = judge_case(self._case, document, cooperative=cooperative)
        return Answered(assignor=ACTUAL, text=text, verdict=verdict)

    def optimum(self) -> Answered:
        """Solve, and have the proof checked."""
        return self._judged(OPTIMUM, solve(self.instance).to_document(self.instance))

    def by_kip54(self) -> Answered:
        """Solve by KIP-54's own balance; a limit in effort, not time: same bytes."""
        limits = Limits(effort=KIP54_EFFORT)
        outcome = solve_policy(self.instance, NAMED[KIP54], limits=limits)
        return self._judged(KIP54, outcome.to_document(self.instance))

    def heuristics(self) -> Iterator[Answered | Failure]:
        """Ask every heuristic."""
        for name, assignor in ASSIGNORS.items():
            try:
                refused = assignor.refuses(self.instance)
                if refused is not None:
                    yield Answered(assignor=name, refused=refused)
                    continue
                assignment = assignor.assign(self.instance)
                document = document_of(self.instance, assignment, assignor=name)
                yield self._judged(name, document)
            except Exception as error:  # noqa: BLE001  # one failure costs one answer
                yield failure_of(name, error)

    def _judged(self, assignor: str, document: AssignmentDocument) -> Answered:
        text = to_json(document)
        # What the judge reads is what the table keeps: the text, not our objects.
        verdict = judge_case(self._case, orjson.loads(text))
        return Answered(
            assignor=assignor, text=text, status=document.status, verdict=verdict
        )


def failure_of(assignor: str, error: Exception) -> Failure:
    """Describe a failure in one line."""
    first = (str(error).splitlines() or [""])[0]
    reason = f"{assignor}: {type(error).__name__}: {first}"
    return Failure(assignor=assignor, reason=reason[:500])
