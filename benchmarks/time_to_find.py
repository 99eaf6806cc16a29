"""Time until ``fuzz`` finds each finding: ``python -m benchmarks.time_to_find``.

For every finding and the newest version of each client that has it, and for every seed,
``assignor-oracle fuzz --client NAME@VERSION --seed S --time 10m --workers 2`` runs
until it has reported the finding, or its time is over (``--time`` of this program is
another limit); findings of one version share a run. A finding counts from the first
record that its definition selects. The record in ``docs/data`` has a line per finding,
version, and seed; a line replaces an earlier one of the same. ``--write`` writes the
table of the page from it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final

from benchmarks.time_to_find_table import OUT, ROOT, read_lines, write_page
from conformance.clients import all_client_assignors
from conformance.findings import (
    all_definitions,
    definitions_of,
    parse_trial,
    stored_records,
)
from conformance.runs import Finding, parse_finding

TRIALS: Final = ROOT / "docs" / "findings" / "trials.jsonl.gz"
SEEDS: Final = (11, 1, 2, 3, 4)
SECONDS: Final = 600
WORKERS: Final = 2
STATUSES: Final = ("open", "fixed")
_FOUND: Final = re.compile(
    r"found: (?P<subject>\S+): .*family (?P<family>\w+), draw (?P<index>\d+), "
    r"after (?P<after>[\d,]+) rebalances?"
)

Line = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Search:
    """One run of ``fuzz``, and the findings that it has not reported yet."""

    subject: str
    seed: int
    seconds: int
    left: list[str]
    lines: list[Line] = field(default_factory=list)
    begun: float = field(default_factory=time.monotonic)
    after: dict[tuple[str, str, int], int] = field(default_factory=dict)

    def run(self) -> list[Line]:
        """Run until everything is found; return a line per finding."""
        command = [
            *(sys.executable, "-m", "oracle", "fuzz", "--client", self.subject),
            *("--seed", str(self.seed), "--time", str(self.seconds)),
            *("--workers", str(WORKERS), "--json"),
        ]
        with subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            reader = threading.Thread(target=self._read, args=(process.stderr,))
            reader.start()
            for finding in _findings(process.stdout):
                self._take(finding)
                if not self.left:
                    process.terminate()
            reader.join()
        missed = [self._line(name, found=False) for name in self.left]
        return [*self.lines, *missed]

    def _read(self, said: IO[bytes]) -> None:
        """Take from standard error after how many rebalances a finding was drawn."""
        for line in said:
            if found := _FOUND.match(line.decode()):
                key = found["subject"], found["family"], int(found["index"])
                self.after.setdefault(key, int(found["after"].replace(",", "")))

    def _take(self, finding: Finding) -> None:
        names = [definition.id for definition in definitions_of(finding)]
        for name in [name for name in names if name in self.left]:
            self.left.remove(name)
            key = finding.subject.name, finding.family, finding.index
            line = self._line(
                name,
                found=True,
                seconds=round(time.monotonic() - self.begun, 1),
                assignor=finding.subject.assignor,
                rebalances=self.after.get(key),
                family=finding.family,
                index=finding.index,
                step=finding.step,
                category=finding.category,
            )
            self.lines.append(line)
            print(json.dumps(line), flush=True)

    def _line(self, name: str, *, found: bool, **more: Any) -> Line:
        about: Line = {"finding": name, "subject": self.subject, "seed": self.seed}
        limit = {"limit_s": self.seconds}
        return about | {"found": found} | more | limit | machine()


def machine() -> Line:
    """Return the machine, its other load, and the date."""
    return {
        "workers": WORKERS,
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "load": round(os.getloadavg()[1], 1),
        "date": datetime.now(UTC).date().isoformat(),
    }


def wanted() -> dict[str, list[str]]:
    """Return the findings to search for, by the newest version that has them."""
    affected: dict[tuple[str, str], set[str]] = {}
    for line in gzip.decompress(TRIALS.read_bytes()).splitlines():
        trial = parse_trial(line)
        if trial.shows:
            key = trial.finding, trial.client
            affected.setdefault(key, set()).add(trial.version)
    for finding in stored_records().findings:
        for definition in definitions_of(finding):
            subject = finding.subject
            key = definition.id, subject.client or ""
            affected.setdefault(key, set()).add(subject.version or "")
    order = [(assignor.client, assignor.version) for assignor in all_client_assignors()]
    found: dict[str, list[str]] = {}
    for client, version in dict.fromkeys(order):
        names = [
            definition.id
            for definition in all_definitions()
            if version
            == _newest(client, affected.get((definition.id, client), set()), order)
            and definition.status_of(client) in STATUSES
        ]
        if names:
            found[f"{client}@{version}"] = names
    return found


def _newest(
    client: str, versions: Iterable[str], order: Sequence[tuple[str, str]]
) -> str | None:
    """Return the newest of some versions; the registry lists them newest first."""
    listed = [version for name, version in order if name == client]
    return min(versions, key=listed.index, default=None)


def _findings(written: IO[bytes]) -> Iterator[Finding]:
    for line in written:
        if json.loads(line)["format"] == "finding/1":
            yield parse_finding(line)


def main() -> None:
    """Search, and write the lines after each run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subject", nargs="*", help="NAME@VERSION; default: all")
    parser.add_argument("--seed", nargs="*", type=int, default=SEEDS)
    parser.add_argument("--time", type=int, default=SECONDS, metavar="SECONDS")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--write", action="store_true", help="only write the page")
    options = parser.parse_args()
    if options.write:
        write_page(read_lines(options.out), wanted())
        return
    every = wanted()
    for seed in options.seed:
        for subject in options.subject or every:
            search = Search(
                subject=subject,
                seed=seed,
                seconds=options.time,
                left=list(every[subject]),
            )
            lines = search.run()
            _replace(options.out, lines)
            for line in lines:
                if not line["found"]:
                    print(json.dumps(line), flush=True)


def _replace(file: Path, new: Sequence[Line]) -> None:
    """Write lines; one of the same finding, version, and seed replaces another."""
    kept = {_key(line): line for line in [*read_lines(file), *new]}
    text = "".join(json.dumps(kept[key]) + "\n" for key in sorted(kept))
    file.write_text(text, encoding="utf-8")


def _key(line: Line) -> tuple[str, str, int]:
    return line["subject"], line["finding"], line["seed"]


if __name__ == "__main__":
    main()
