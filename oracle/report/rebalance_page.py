"""Page of one rebalance of any source: before, as it was, as it could have been."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from importlib import metadata
from pathlib import Path

from oracle.report.outliers import outlier_of
from oracle.report.page_templates import environment
from oracle.writing import replacing


def write_rebalance_page(
    instance: str,
    assignment: str,
    out: Path,
    *,
    claim_rule: str,
    generation: int | None = None,
    at: datetime | None = None,
    is_round: bool = False,
) -> None:
    """Solve and judge a rebalance, and write its page.

    Parameters
    ----------
    instance, assignment
        A rebalance/1 and an assignment/1, as JSON.
    generation, at
        Name of the rebalance in its group: its generation, and its time in UTC.
    is_round
        Of a cooperative rebalance: partitions can be withheld.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    case = outlier_of(instance, assignment, claim_rule, is_round=is_round)
    case = replace(case, generation=generation, at=at)
    template = environment().get_template("rebalance.html")
    html = template.render(
        case=case, kind=case.kind, version=metadata.version("assignor-oracle")
    )
    with replacing(out) as writer:
        writer.write(html.encode())
