"""Answers to one rebalance, evaluated by code, under the rebalance's names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from pipeline.evaluation import ACTUAL, ALWAYS, OPTIMUM, Least, evidence_text
from pipeline.judging.code_kernels import (
    DEC_MIN_BALANCED,
    DECIDED,
    GIVER,
    IS_PEAK_LEAST,
    KEPT,
    KIP54_BALANCED,
    LAG_SPREAD,
    NEEDLESS_LAG,
    OWNED,
    PARTITION,
    PEAK_LAG,
    PEAK_LAG_BOUND,
    RECEIVER,
    SCORE,
    TOPIC,
    UNKNOWN,
    WITHHELD,
)
from pipeline.judging.evaluated import Evaluated
from pipeline.judging.harm_counts import count_rivals
from pipeline.judging.rebalance_code import RebalanceCode
from rebalance import ABSENT, ClaimRule


@dataclass(frozen=True, slots=True, kw_only=True)
class CodedAnswers:
    """Answers to one rebalance.

    Attributes
    ----------
    code : RebalanceCode
    found : Evaluated
    texts : list of str
        The assignments.
    are_optima_judged : bool
        Whether the judge checks every real answer and every optimum.
    is_round : bool
        Whether the real answer is judged as a cooperative round.
    lag_known : bool
    claim_rule : ClaimRule
    """

    code: RebalanceCode
    found: Evaluated
    texts: list[str]
    are_optima_judged: bool
    is_round: bool
    lag_known: bool
    claim_rule: ClaimRule

    def is_judged(self, place: int) -> bool:
        """Return whether the judge checks an answer that is decided."""
        is_first = self.are_optima_judged and self.found.assignors[place] in ALWAYS
        return self.found.is_sampled or is_first

    @property
    def least(self) -> Least:
        """The proofs of the optimum."""
        optimum, counts = self.found.optimum, self.found.counts
        moves = int(counts[OWNED] - optimum[KEPT])
        return Least(kip54_score=int(optimum[SCORE]), moves=moves)

    @property
    def n_rivals(self) -> int:
        """Number of partitions that several subscribers claim with equal right."""
        return count_rivals(self.code.code, self.claim_rule)

    @property
    def peak_lag_bound(self) -> int | None:
        """Lower bound on the peak lag."""
        bound = int(self.found.counts[PEAK_LAG_BOUND])
        return None if bound == UNKNOWN else bound

    @property
    def undecided(self) -> list[int]:
        """Places of answers that only the judge can decide."""
        decided = self.found.answers.figures[:, DECIDED].tolist()
        return [place for place, is_decided in enumerate(decided) if not is_decided]

    def evidence(self, place: int) -> str | None:
        """Return the evidence against an answer's balance."""
        figures = self.found.answers.figures[place].tolist()
        if figures[DEC_MIN_BALANCED]:
            return None
        members = self.found.answers.chains[place].tolist()
        return evidence_text(
            (figures[GIVER], figures[TOPIC], figures[PARTITION], figures[RECEIVER]),
            [member for member in members if member != ABSENT],
            self.code.members,
            self.code.topics,
        )

    def verdict(self, place: int) -> dict[str, Any]:
        """Return the verdict/1 that the figures amount to, without an id."""
        figures = self.found.answers.figures[place].tolist()
        name = self.found.assignors[place]
        evidence, is_optimum = self.evidence(place), name == OPTIMUM
        is_round = self.is_round and name == ACTUAL
        return {
            "format": "verdict/1",
            "verdict": "valid",
            "violations": [],
            "figures": {
                "loads": self.found.answers.loads[place].tolist(),
                "kept": figures[KEPT],
                "moves": int(self.found.counts[OWNED]) - figures[KEPT],
                "kip54_score": figures[SCORE],
                "kip54_balanced": bool(figures[KIP54_BALANCED]),
                "dec_min_balanced": bool(figures[DEC_MIN_BALANCED]),
                "peak_lag": figures[PEAK_LAG],
                "lag_spread": figures[LAG_SPREAD],
                "rack_mismatches": 0,
                **({"withheld": figures[WITHHELD]} if is_round else {}),
            },
            **({"status": _PROVED} if is_optimum else {}),
            "evidence": {} if evidence is None else orjson.loads(evidence),
            "proved": {
                "dec_min": is_optimum,
                "stickiness": is_optimum,
                "peak_lag": bool(figures[IS_PEAK_LEAST]),
            },
        }

    @property
    def actual(self) -> dict[str, Any] | None:
        """Columns of the real answer that episodes have; None: not decided here."""
        figures = self.found.answers.figures[0].tolist()
        if self.found.assignors[0] != ACTUAL or not figures[DECIDED]:
            return None
        least, moves = self.least, int(self.found.counts[OWNED]) - figures[KEPT]
        is_balanced = bool(figures[DEC_MIN_BALANCED])
        is_optimum = is_balanced and moves == least.moves
        has_lag = is_balanced and self.lag_known
        return {
            "moves": moves,
            "moves_least": least.moves,
            "moves_least_kip54": None,
            "kip54_score": figures[SCORE],
            "kip54_score_least": least.kip54_score,
            "kip54_balanced": bool(figures[KIP54_BALANCED]),
            "dec_min_balanced": is_balanced,
            "verdict": "valid",
            "needless_lag": figures[NEEDLESS_LAG] if has_lag else None,
            "at_optimum": None if figures[WITHHELD] else is_optimum,
            "at_kip54_optimum": None,
            "assignment": self.texts[0],
        }


_PROVED = {"claimed": "optimal", "found": "proved"}
