"""``conform``: test an assignor on the corpus, on random rebalances, under churn."""

from __future__ import annotations

from oracle.cli.options.conform import ConformOptions


def conform(options: ConformOptions) -> None:
    """Test an assignor in any language: on the corpus, on random rebalances, in churn.

    Prints a matrix and the findings; answers are repeated by another process. Exit
    code 1 if there is a finding, 3 if the program cannot be started or a client is not
    installed.

    Example: assignor-oracle conform --command ./my-assignor --require kip54
    """
    from oracle.cli.runs.conform import conform_all

    conform_all(options)
