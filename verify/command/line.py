"""Judge assignments from a shell; the body of ``python -m verify``."""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from verify.case import CLAIM_RULES
from verify.command.device_failures import DEVICE_FAILURES
from verify.command.pairs import Entry, Mismatch, binary, paired, read_entries
from verify.documents import PARTITIONS_MAX, read_assignment, read_rebalance
from verify.handover import policy
from verify.judge import is_proved, judge, unreadable

FINE, INVALID, BAD_INPUT, OUTSIDE = 0, 1, 2, 3
INTERRUPTED = 130

EPILOG = """\
Each input is one JSON document or JSON Lines; - reads standard input. Assignments
belong to instances by position, or by id where all of both carry one. One verdict/1
is printed per pair; docs/words.md describes it. A claimed status is found to be
proved, search (the word of an engine), unproved or refuted. --against-brute-force
enumerates every assignment of a tiny group and reports, under "brute_force" in the
evidence, which claims hold.

exit code: 0 all valid, 1 some invalid (or not proved, with --require proved),
2 bad usage or unreadable input, 3 a full or failing disk, or not enough memory
example: python -m verify rebalance.json assignment.json
"""


def main(
    arguments: list[str] | None = None, *, leave: Callable[[int], int] = int
) -> int:
    """Judge, print, and return the exit code; no error leaves as a traceback.

    ``leave`` is called with the code while the documents are still in memory.
    """
    was_enabled = gc.isenabled()
    gc.disable()  # documents have no cycles, and millions of lists
    try:
        return _run(_parser().parse_args(arguments), leave)
    except Mismatch as error:
        return _complain(str(error))
    except OSError as error:
        return _failed(error)
    except MemoryError:
        return _complain("not enough memory for input of this size", OUTSIDE)
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        if was_enabled:
            gc.enable()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m verify",
        description="Judge assignments of a Kafka consumer group, trusting no engine.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("instance", metavar="INSTANCE", help="rebalance/1, or -")
    add("assignment", metavar="ASSIGNMENT", help="assignment/1, or -")
    words = "which claims establish owners (default: %(default)s)"
    add("--claim-rule", choices=CLAIM_RULES, default=CLAIM_RULES[0], help=words)
    words = "judge one round of cooperative rebalancing"
    add("--cooperative", action="store_true", help=words)
    words = "settle the claims by enumeration; tiny instances only"
    add("--against-brute-force", action="store_true", help=words)
    words = "exit with 1 unless the judge proves every assignment optimal"
    add("--require", choices=["proved"], help=words)
    words = "reject larger instances as unreadable (default: %(default)s)"
    add("--max-partitions", type=int, default=PARTITIONS_MAX, metavar="N", help=words)
    return parser


def _run(options: argparse.Namespace, leave: Callable[[int], int]) -> int:
    if options.instance == options.assignment == "-":
        return _complain("only one of INSTANCE and ASSIGNMENT can be standard input")
    read = partial(read_rebalance, max_partitions=options.max_partitions)
    instances = read_entries(options.instance, read)
    assignments = read_entries(options.assignment, read_assignment)
    out, worst = binary(sys.stdout, "standard output"), FINE
    for entry in (*instances, *assignments):
        if entry.error is not None:
            for path, reason in entry.error.culprits:
                worst = _complain(f"{entry.source}:{entry.line}: {path}: {reason}")
    for instance, assignment in paired(instances, assignments):
        verdict, refused = _verdict(instance, assignment, options)
        line = json.dumps(verdict, ensure_ascii=False, separators=(",", ":"))
        out.write(line.encode() + b"\n")
        unproved = options.require is not None and not is_proved(verdict)
        if verdict["verdict"] == "invalid" or unproved:
            worst = max(worst, INVALID)
        if refused is not None:
            worst = _complain(f"{instance.source}:{instance.line}: {refused}")
    out.flush()
    return leave(worst)


def _verdict(
    instance: Entry, assignment: Entry, options: argparse.Namespace
) -> tuple[dict[str, Any], str | None]:
    """Return the verdict on a pair, and a complaint beyond those of reading it."""
    for document, entry in (("instance", instance), ("assignment", assignment)):
        if entry.error is not None:
            shown = unreadable(entry.error, document=document, case_id=instance.id)
            return shown, None
    pair, rule = (instance.document, assignment.document), options.claim_rule
    verdict = judge(*pair, claim_rule=rule, cooperative=options.cooperative)
    if verdict["verdict"] == "unreadable":
        culprit = verdict["evidence"]["unreadable"]
        return verdict, f"{culprit['path']}: {culprit['reason']}"
    if not options.against_brute_force:
        return verdict, None
    settled = policy.enumerate_claims(*pair, verdict, claim_rule=rule)
    verdict["evidence"]["brute_force"] = settled
    return verdict, settled.get("refused")


def _failed(error: OSError) -> int:
    code = OUTSIDE if error.errno in DEVICE_FAILURES else BAD_INPUT
    if error.filename is not None:
        return _complain(f"{error.filename}: {error.strerror}", code)
    # It was the output. The interpreter flushes it on its way out; not once more.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):  # the reader of the output has left
        return BAD_INPUT
    return _complain(f"standard output: {error.strerror}", code)


def _complain(message: str, code: int = BAD_INPUT) -> int:
    print(f"verify: {message}", file=sys.stderr)
    return code
