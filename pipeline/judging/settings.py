"""Settings of judging."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.evaluation import DEFAULT
from pipeline.judging.instances import ClusterFacts
from rebalance import ClaimRule


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of all cases of an audit; ``assignors`` as `evaluation.selection`.

    If ``are_optima_judged``, the judge checks all real answers and optima, and not only
    those of its sample.
    """

    cluster: str
    facts: ClusterFacts
    claim_rule: ClaimRule
    assignors: tuple[str, ...] = DEFAULT
    are_optima_judged: bool = False
