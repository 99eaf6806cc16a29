"""Write the corpus, or its schema."""

from __future__ import annotations

import json

from conformance import corpus_documents, scenario_schema
from oracle.cli.options.corpus import CorpusOptions
from oracle.cli.printing.sink import opened_sink


def write_corpus(options: CorpusOptions) -> None:
    """Run ``corpus``."""
    with opened_sink(options.output, as_json=True) as sink:
        if options.schema:
            text = json.dumps(scenario_schema(), indent=2, ensure_ascii=False)
            sink.write_text(f"{text}\n".encode())
            return
        for scenario in corpus_documents():
            sink.write_document(scenario)
