"""``corpus``: print the corpus as JSON Lines, or its JSON Schema."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from oracle.cli.options.common import OutputOption

Schema = Annotated[
    bool,
    typer.Option("--schema", help="Print the JSON Schema of scenario/1 instead."),
]


def corpus(*, schema: Schema = False, output: OutputOption = "-") -> None:
    """Print the scenarios that `conform` plays, one scenario/1 document per line.

    Each is a sequence of rebalances from a KIP, ticket, or thread, with properties that
    the answers are expected to have.

    Example: assignor-oracle corpus > corpus.jsonl
    """
    from conformance import corpus_documents, scenario_schema
    from oracle.cli.printing.sink import opened_sink

    with opened_sink(output, as_json=True) as sink:
        if schema:
            text = json.dumps(scenario_schema(), indent=2, ensure_ascii=False)
            sink.write_text(f"{text}\n".encode())
            return
        for scenario in corpus_documents():
            sink.write_document(scenario)
