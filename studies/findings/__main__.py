"""Write the pages of findings: ``python -m studies.findings [--trials [ID…]]``.

``--trials`` gives the examples of all findings, or of those that are named, to all
installed clients first, and stores the outcomes. ``--try ID`` prints those of one.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

from conformance.findings import (
    Definition,
    Trial,
    all_definitions,
    definition,
    try_examples,
)
from rebalance import OutsideError
from studies.findings.pages import FOLDER, TRIALS, files, read_trials

ROOT: Final = Path(__file__).resolve().parents[2]
GENERATED: Final = ("*.md", "pictures/*.svg", "instances/*.jsonl", "clients/*.md")


def main() -> int:
    """Run the command; the exit code is 3 if records or clients are missing."""
    parser = argparse.ArgumentParser(prog="python -m studies.findings")
    parser.add_argument("--trials", nargs="*", metavar="ID", help="try examples anew")
    parser.add_argument("--try", dest="tried", metavar="ID", help="try one finding")
    options = parser.parse_args()
    try:
        if options.tried:
            return _try(options.tried)
        if options.trials is not None:
            _store_trials(options.trials)
        _write()
    except OutsideError as error:
        print(error, file=sys.stderr)
        return 3
    return 0


def _try(name: str) -> int:
    shows = False
    for trial in _trials((definition(name),)):
        mark = "shows it" if trial.shows else "does not"
        print(f"{trial.spec}, example {trial.example + 1}: {mark} ({trial.category})")
        shows |= trial.shows
    return 1 if shows else 0


def _store_trials(names: Sequence[str]) -> None:
    """Replace the trials of some findings, or of all."""
    wanted = tuple(map(definition, names)) or all_definitions()
    anew = {chosen.id for chosen in wanted}
    path = ROOT / FOLDER / TRIALS
    kept = [trial for trial in read_trials(path) if trial.finding not in anew]
    known = {definition.id for definition in all_definitions()}
    trials = [trial for trial in (*kept, *_trials(wanted)) if trial.finding in known]
    trials.sort(key=lambda trial: (trial.finding, trial.example))
    lines = "".join(trial.model_dump_json(exclude_none=True) + "\n" for trial in trials)
    path.write_bytes(gzip.compress(lines.encode(), mtime=0))


def _write() -> None:
    folder = ROOT / FOLDER
    made = dict(files(ROOT))
    for pattern in GENERATED:
        for path in folder.glob(pattern):
            if path.relative_to(ROOT).as_posix() not in made:
                path.unlink()
    for name, text in made.items():
        target = ROOT / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def _trials(definitions: tuple[Definition, ...]) -> Iterator[Trial]:
    return try_examples(
        date=datetime.now(UTC).date().isoformat(),
        oracle=version("assignor-oracle"),
        missing=_report,
        definitions=definitions,
    )


def _report(spec: str) -> None:
    print(f"{spec} is not installed: run `make clients`", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
