"""Page of one rebalance of any source: before, as it was, as it could have been."""

from __future__ import annotations

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
    is_round: bool = False,
) -> None:
    """Solve and judge a rebalance, and write its page.

    Parameters
    ----------
    instance, assignment
        A rebalance/1 and an assignment/1, as JSON.
    is_round
        Of a cooperative rebalance: partitions can be withheld.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    case = outlier_of(
        instance, assignment, claim_rule, generation=generation, is_round=is_round
    )
    template = environment().get_template("rebalance.html")
    html = template.render(
        case=case, kind=case.kind, version=metadata.version("assignor-oracle")
    )
    with replacing(out) as writer:
        writer.write(html.encode())
