"""Compare the verdicts of the two judges: ``verify`` and the checker of ``proofs/``.

``python -m tools.verdicts --count N --seed S`` draws N pairs of a rebalance and an
answer, honest and forged, runs both judges, and compares every field that the checker
covers. The fields that it does not cover are listed in ``not_covered``. Printed are the
number of pairs per policy, and each difference with its pair of documents.

With ``--mutated`` the pairs are lines that are nearly documents, and both programs read
the same files; ``unreadable`` has to be so to both.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import verify
from tests.proofs.drawn_pairs import drawn_pairs, kept_pairs
from tests.proofs.mutated_lines import Lines, mutated_lines
from tools import proofs

BATCH = 2000  # pairs per run of the checker
NAMING = "not_covered"
VERIFY = (sys.executable, "-m", "verify")
PLACE = re.compile(r"\.\d+\b")

Document = dict[str, Any]
Pair = tuple[Document, Document]  # rebalance/1, assignment/1


class FieldDifference(NamedTuple):
    """A field on which the judges differ; None where one has no such field."""

    field: str
    verify: Any
    checker: Any
    pair: Pair | tuple[str, str]


def compared(pairs: Iterable[Pair]) -> Iterator[tuple[Document, list[FieldDifference]]]:
    """Yield the checker's verdict on each pair, and where ``verify`` differs."""
    waiting = iter(pairs)
    while batch := list(islice(waiting, BATCH)):
        for pair, found in zip(batch, checker_verdicts(batch), strict=True):
            expected = verify_verdict(*pair)
            uncovered = found.pop(NAMING, [])
            odd = differing_fields("", expected, found, set(uncovered))
            yield found, [FieldDifference(*difference, pair) for difference in odd]


def compared_lines(
    pairs: Iterable[Lines],
) -> Iterator[tuple[Document, list[FieldDifference]]]:
    """Do the same with pairs of lines, of which both programs read the files."""
    waiting = iter(pairs)
    while batch := list(islice(waiting, BATCH)):
        files = [b"\n".join(lines) + b"\n" for lines in zip(*batch, strict=True)]
        by_verify = verdicts_on_files(VERIFY, *files)
        by_checker = verdicts_on_files([str(proofs.CHECKER)], *files)
        for lines, expected, found in zip(batch, by_verify, by_checker, strict=True):
            uncovered = found.pop(NAMING, [])
            odd = differing_fields("", expected, found, set(uncovered))
            first, second = (line.decode("utf-8", "backslashreplace") for line in lines)
            yield (
                found,
                [FieldDifference(*difference, (first, second)) for difference in odd],
            )


def checker_verdicts(pairs: Collection[Pair]) -> list[Document]:
    """Run the checker once on many pairs."""
    files = [
        "".join(
            json.dumps(document, ensure_ascii=False) + "\n" for document in documents
        ).encode()
        for documents in zip(*pairs, strict=True)
    ]
    return verdicts_on_files([str(proofs.CHECKER)], *files)


def verdicts_on_files(
    command: Sequence[str], instances: bytes, answers: bytes
) -> list[Document]:
    """Run a judge on two files."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("instances", "assignments")]
        for path, content in zip(files, (instances, answers), strict=True):
            path.write_bytes(content)
        ran = subprocess.run(
            [*command, *map(str, files)], capture_output=True, check=False
        )
    # verify also names there the fields that it could not read
    complains = ran.stderr and command is not VERIFY
    if ran.returncode not in {0, 1, 2} or complains:
        raise RuntimeError(f"exit code {ran.returncode}: {ran.stderr.decode()}")
    return [json.loads(line) for line in ran.stdout.splitlines()]


def verify_verdict(instance: Document, answer: Document) -> Document:
    """Return the verdict of ``verify`` on the written documents."""
    try:
        return verify.judge(
            verify.read_rebalance(json.dumps(instance)),
            verify.read_assignment(json.dumps(answer)),
        )
    except verify.Unreadable as error:
        return verify.unreadable(error, document="", case_id=instance.get("id"))


def differing_fields(
    path: str, expected: Any, other: Any, uncovered: Collection[str]
) -> Iterator[tuple[str, Any, Any]]:
    """Yield path and values of each field that differs and is covered.

    The name of an entry of a list that is not covered may have ``*`` for the place.
    """
    if expected == other or not {path, PLACE.sub(".*", path)}.isdisjoint(uncovered):
        return
    if isinstance(expected, dict) and isinstance(other, dict):
        for key in sorted(expected.keys() | other.keys()):
            inner = f"{path}.{key}" if path else key
            yield from differing_fields(
                inner, expected.get(key), other.get(key), uncovered
            )
    elif (
        isinstance(expected, list)
        and isinstance(other, list)
        and len(expected) == len(other)
    ):
        for place, (mine, theirs) in enumerate(zip(expected, other, strict=True)):
            yield from differing_fields(f"{path}.{place}", mine, theirs, uncovered)
    else:
        yield path, expected, other


def _requested(
    options: argparse.Namespace,
) -> Iterator[tuple[Document, list[FieldDifference]]]:
    if options.mutated:
        return compared_lines(islice(mutated_lines(options.seed), options.count))
    if options.kept:
        return compared(kept_pairs())
    return compared(islice(drawn_pairs(options.seed), options.count))


def main(arguments: list[str] | None = None) -> int:
    """Draw, compare, print, and return 1 if any verdict differs."""
    parser = argparse.ArgumentParser(prog="python -m tools.verdicts")
    parser.add_argument("--count", type=int, default=10_000, help="pairs to draw")
    parser.add_argument("--seed", type=int, default=1, help="of the first draw")
    words = "the corpus and a recording instead of drawn pairs"
    parser.add_argument("--kept", action="store_true", help=words)
    words = "lines that are nearly documents instead of documents"
    parser.add_argument("--mutated", action="store_true", help=words)
    options = parser.parse_args(arguments)
    counted: Counter[str] = Counter()
    proved: Counter[str] = Counter()
    worst = 0
    for verdict, odd in _requested(options):
        policy = verdict.get("policy", {}).get("of", verdict["verdict"])
        counted[policy] += 1
        stated = [*verdict.get("proved", {}).items()]
        proved.update(name for name, is_so in stated if is_so)
        levels = verdict.get("objectives", ())
        proved.update(f"level by {n['rests_on']}" for n in levels if n.get("proved"))
        for difference in odd:
            worst = 1
            print(json.dumps(difference._asdict(), ensure_ascii=False))
    for policy, number in sorted(counted.items()):
        print(f"{number:>9,} {policy}")
    print(f"{counted.total():>9,} pairs; proved: {dict(sorted(proved.items()))}")
    return worst


if __name__ == "__main__":
    sys.exit(main())
