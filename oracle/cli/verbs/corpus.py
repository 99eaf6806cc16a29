"""``corpus``: print the corpus as JSON Lines, or its JSON Schema."""

from __future__ import annotations

from oracle.cli.options.corpus import CorpusOptions


def corpus(options: CorpusOptions) -> None:
    """Print the scenarios that `conform` plays, one scenario/1 document per line.

    Each is a sequence of rebalances from a KIP, ticket, or thread, with properties that
    the answers are expected to have.

    Example: assignor-oracle corpus > corpus.jsonl
    """
    from oracle.cli.runs.corpus import write_corpus

    write_corpus(options)
