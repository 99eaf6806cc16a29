"""Judge assignments from a shell: ``python -m verify INSTANCE ASSIGNMENT``."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from verify.brute import settle_policy
from verify.case import CLAIM_RULES, understand
from verify.enumerate import TooLarge, settle
from verify.judge import judge, unreadable
from verify.pairs import Entry, Mismatch, binary, paired, read_entries
from verify.read import read_assignment, read_rebalance
from verify.rules import rows_of

FINE, INVALID, BAD_INPUT = 0, 1, 2
INTERRUPTED = 130

EPILOG = """\
Each input is one JSON document or JSON Lines; - reads standard input. Assignments
belong to instances by position, or by id where all of both carry one. One verdict/1
is printed for each pair. Of an assignment that states a policy it tells, level by
level, the value, the bound, and whether that rests on a certificate, on terms, on a
search or on nothing; only the first two are proof.

--against-brute-force looks at every assignment there is, and so settles tiny groups
alone: what is least for each level of the stated policy under its balance and budget,
whether the assignment reaches it, and whether claimed bounds and a claimed status
(optimal, feasible, infeasible) hold; without a policy, whether balance, stickiness and
peak lag are the best. It is told under "brute_force" in the evidence.

exit code: 0 all valid, 1 some invalid, 2 bad usage or unreadable input
example: python -m verify rebalance.json assignment.json
"""


def main(arguments: list[str] | None = None) -> int:
    """Judge, print, and return the exit code; no error leaves as a traceback."""
    try:
        return _run(_parser().parse_args(arguments))
    except Mismatch as error:
        return _complain(str(error))
    except OSError as error:
        return _failed(error)
    except MemoryError:
        return _complain("not enough memory for input of this size")
    except KeyboardInterrupt:
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m verify",
        description="Judge assignments of a Kafka consumer group, believing nobody.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("instance", metavar="INSTANCE", help="rebalance/1, or -")
    parser.add_argument("assignment", metavar="ASSIGNMENT", help="assignment/1, or -")
    parser.add_argument(
        "--claim-rule",
        choices=CLAIM_RULES,
        default=CLAIM_RULES[0],
        help="whose claims make owners (default: %(default)s)",
    )
    parser.add_argument(
        "--cooperative",
        action="store_true",
        help="judge one round of cooperative rebalancing",
    )
    parser.add_argument(
        "--against-brute-force",
        action="store_true",
        help="settle what is claimed by enumeration; tiny instances only",
    )
    return parser


def _run(options: argparse.Namespace) -> int:
    if options.instance == options.assignment == "-":
        return _complain("only one of INSTANCE and ASSIGNMENT can be standard input")
    instances = read_entries(options.instance, read_rebalance)
    assignments = read_entries(options.assignment, read_assignment)
    out, worst = binary(sys.stdout, "standard output"), FINE
    for entry in (*instances, *assignments):
        if entry.error is not None:
            worst = _complain(f"{entry.source}:{entry.line}: {entry.error}")
    for instance, assignment in paired(instances, assignments):
        verdict = _verdict(instance, assignment, options)
        line = json.dumps(verdict, ensure_ascii=False, separators=(",", ":"))
        out.write(line.encode() + b"\n")
        worst = max(worst, INVALID if verdict["verdict"] == "invalid" else FINE)
        if "refused" in verdict["evidence"].get("brute_force", {}):
            reason = verdict["evidence"]["brute_force"]["refused"]
            worst = _complain(f"{instance.source}:{instance.line}: {reason}")
    out.flush()
    return worst


def _verdict(
    instance: Entry, assignment: Entry, options: argparse.Namespace
) -> dict[str, Any]:
    for document, entry in (("instance", instance), ("assignment", assignment)):
        if entry.error is not None:
            return unreadable(entry.error, document=document, case_id=instance.id)
    rule = options.claim_rule
    verdict = judge(
        instance.document,
        assignment.document,
        claim_rule=rule,
        cooperative=options.cooperative,
    )
    if options.against_brute_force:
        settled = _settled(instance.document, assignment.document, verdict, rule)
        verdict["evidence"]["brute_force"] = settled
    return verdict


def _settled(
    instance: dict[str, Any],
    assignment: dict[str, Any],
    verdict: dict[str, Any],
    rule: str,
) -> dict[str, Any]:
    """Return what brute force says to the claims, or why it does not."""
    try:
        if "policy" not in assignment:
            return settle(instance, verdict, claim_rule=rule)
        is_valid = verdict["verdict"] == "valid"
        return settle_policy(
            understand(instance, claim_rule=rule),
            rows_of(assignment["members"]),
            assignment,
            complete=is_valid and not verdict["figures"].get("withheld"),
        )
    except TooLarge as error:
        return {"refused": str(error)}


def _failed(error: OSError) -> int:
    if error.filename is not None:
        return _complain(f"{error.filename}: {error.strerror}")
    # It was the output. The interpreter flushes it on its way out; not once more.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):  # whoever read it has had enough
        return BAD_INPUT
    return _complain(f"standard output: {error.strerror}")


def _complain(message: str) -> int:
    print(f"verify: {message}", file=sys.stderr)
    return BAD_INPUT


if __name__ == "__main__":
    sys.exit(main())
