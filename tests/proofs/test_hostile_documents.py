"""Both programs answer each pair of two files, whatever is in them, and the same."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest

from tests.proofs.mutated_lines import mutated_lines
from tests.support import last_drawn
from tests.support.amount import FIRST_SEED, share
from tests.support.shapes import CHAIN
from tests.support.unreadable import ASSIGNMENTS
from tools import proofs, verdicts

pytestmark = [pytest.mark.heavy, pytest.mark.usefixtures("compiled")]

LINES = share(1, 2)
ANSWER: verdicts.Document = {
    "format": "assignment/1",
    "members": {"a": {"t": [0]}, "b": {"t": [1]}, "c": {"u": [0]}, "d": {"v": [0]}},
}
INSTANCE, VALID = (json.dumps(document).encode() for document in (CHAIN, ANSWER))
INVALID = json.dumps(ANSWER | {"members": {}}).encode()
DEEP = b"[" * 200_000


def with_id(line: bytes, name: str) -> bytes:
    return json.dumps({"id": name} | json.loads(line)).encode()


def by_both(folder: Path, instances: bytes, answers: bytes) -> tuple[int, list[str]]:
    """Return exit code and verdicts of the checker, if those of verify are the same."""
    files = [folder / name for name in ("instances", "answers")]
    for path, content in zip(files, (instances, answers), strict=True):
        path.write_bytes(content)
    found: list[tuple[int, list[str]]] = []
    for command in (verdicts.VERIFY, (str(proofs.CHECKER),)):
        arguments = [*command, *map(str, files)]
        ran = subprocess.run(arguments, capture_output=True, check=False)
        lines = [json.loads(line) for line in ran.stdout.splitlines()]
        shown = [f"{verdict.get('id', '')}{verdict['verdict']}" for verdict in lines]
        found.append((ran.returncode, shown))
    assert found[0] == found[1]
    return found[1]


def answered(folder: Path, *answers: bytes) -> list[str]:
    """Return the verdicts on answers to the same instance, one per line."""
    lines = b"\n".join(answers)
    code, found = by_both(folder, b"\n".join([INSTANCE] * len(answers)), lines)
    assert code == (2 if "unreadable" in found else 0)
    return found


IN_PLACE_OF_0 = (
    b"[0,] [,0] [00] [+0] [0.0] [0e0] [0x0] [NaN] [-Infinity] (0) <0>".split()
)
IN_PLACE_OF_T = (
    b"t\x00|t\t|t\x1f|\\t\\x|\\u12|\\ud800|\\udc00\\ud800|\xff|\xc0\x80|\xe0\x9f\xbf"
    b"|\xed\xa0\x80|\xf4\x90\x80\x80|\xe2\x82"
).split(b"|")


@pytest.mark.parametrize(
    "line",
    [
        *(DEEP, DEEP + b"]" * 200_000, b'{"a":' * 200_000),
        VALID.replace(b"[0]", b"[" * 1100 + b"0" + b"]" * 1100),
        *(
            VALID[:-1],
            VALID + VALID,
            VALID + b" " + VALID,
            VALID + b" x",
            b"x " + VALID,
        ),
        *(VALID[:-1] + b"/* a comment */}", VALID + b" // a comment", b"# a comment"),
        b"x " + VALID,
        *(VALID.replace(b'"members"', name) for name in (b"members", b"'members'")),
        *(VALID.replace(b"[0]", part) for part in IN_PLACE_OF_0),
        *(VALID.replace(b"[0]", b"[%b]" % n) for n in (b"%d" % 2**63, b"9" * 5000)),
        *(VALID.replace(b'"t"', b'"%b"' % part) for part in IN_PLACE_OF_T),
        *(VALID.replace(b'{"t"', b'{"%b":[0],"t"' % t) for t in (b"t", b"\\u0074")),
        *(VALID.replace(b", ", b",%b" % space) for space in (b"\xc2\xa0", b"\x0c")),
        *(b"\xef\xbb\xbf" + VALID, VALID.decode().encode("utf-16"), b"null"),
        *(p.read_bytes() for p in ASSIGNMENTS if p.stem not in {"empty", "rebalance"}),
    ],
    ids=lambda line: repr(line)[:40],
)
def test_an_unreadable_line_is_the_fault_of_its_pair(
    tmp_path: Path, line: bytes
) -> None:
    found = answered(tmp_path, VALID, line, VALID)
    assert found == ["valid", "unreadable", "valid"]
    code, found = by_both(tmp_path, INSTANCE + b"\n" + line, VALID + b"\n" + VALID)
    assert (code, found) == (2, ["valid", "unreadable"])


@pytest.mark.parametrize(
    "line",
    [
        VALID.replace(b" ", b"\t\r "),
        VALID.replace(b"[0]", b"[ -0 ]"),
        VALID.replace(b'"t"', b'"\\u0074"'),
        VALID[:-1] + b', "reason": "\\ud83d\\ude00 \xf0\x9f\x98\x80 \x7f \\u0000 \\/"}',
        VALID[:-1] + b', "reason": "\xef\xbf\xbf \xf4\x8f\xbf\xbf \xed\x9f\xbf"}',
        VALID[:-1] + b', "reason": "// /* no comment \xef\xbb\xbf */"}',
        json.dumps(ANSWER | {"figures": {"loads": [1], "kept": 3}}).encode(),
    ],
    ids=lambda line: repr(line)[:40],
)
def test_a_line_that_can_be_read(tmp_path: Path, line: bytes) -> None:
    assert answered(tmp_path, VALID, line, VALID) == ["valid"] * 3


def test_large_numbers_of_claims_differ(tmp_path: Path) -> None:
    """Two partitions that do not exist are not the same one, whatever their size."""
    group = json.loads(INSTANCE)
    group["members"]["a"]["owned"] = {"t": [2**62, 2**62 + 1, 2**63 - 1]}
    assert by_both(tmp_path, json.dumps(group).encode(), VALID) == (0, ["valid"])
    group["members"]["a"]["owned"] = {"t": [2**62, 2**62]}
    assert by_both(tmp_path, json.dumps(group).encode(), VALID) == (2, ["unreadable"])


PRETTY = json.dumps(CHAIN, indent=2).encode()


@pytest.mark.parametrize(
    ("instances", "answers", "expected"),
    [
        ([PRETTY], [VALID], (0, ["valid"])),
        ([b"", PRETTY, b""], [b" ", VALID, b""], (0, ["valid"])),
        ([b"\xef\xbb\xbf" + PRETTY], [VALID], (2, ["unreadable"])),
        (
            [INSTANCE, b"", b"\x0b", INSTANCE],
            [VALID, INVALID],
            (1, ["valid", "invalid"]),
        ),
        ([b"x", INSTANCE], [INVALID, VALID], (2, ["unreadable", "valid"])),
        ([b"x", b"y"], [VALID], (2, ["unreadable"])),
        ([b"{}", b"y"], [VALID, VALID], (2, ["unreadable"] * 2)),
        ([b"{", b"}"], [VALID], (2, ["unreadable"])),
        ([DEEP, INSTANCE], [VALID, VALID], (2, ["unreadable", "valid"])),
        ([b""], [VALID], (2, ["unreadable"])),
        ([b""], [b""], (2, ["unreadable"])),
        ([INSTANCE], [VALID, VALID], (2, [])),
        ([INSTANCE, INSTANCE], [VALID], (2, [])),
        ([INSTANCE + b"\r", INSTANCE + b"\r"], [VALID] * 2, (0, ["valid"] * 2)),
        (
            [with_id(INSTANCE, "1"), with_id(INSTANCE, "2")],
            [with_id(INVALID, "2"), with_id(VALID, "1")],
            (1, ["1valid", "2invalid"]),
        ),
        ([with_id(INSTANCE, "1")], [with_id(VALID, "2")], (2, [])),
        ([with_id(INSTANCE, "1")], [VALID], (0, ["1valid"])),
        ([with_id(INSTANCE, "1")], [b"x"], (2, ["1unreadable"])),
        (
            [with_id(INSTANCE, "1")] * 2,
            [with_id(INVALID, "1"), with_id(VALID, "1")],
            (1, ["1invalid", "1valid"]),
        ),
        ([with_id(INSTANCE, "1"), INSTANCE], [VALID] * 2, (0, ["1valid", "valid"])),
    ],
)
def test_files_and_pairs(
    tmp_path: Path,
    instances: Sequence[bytes],
    answers: Sequence[bytes],
    expected: tuple[int, list[str]],
) -> None:
    assert by_both(tmp_path, *(b"\n".join(f) for f in (instances, answers))) == expected


@pytest.mark.parametrize(("before", "bound"), [(3124, 0), (3125, -1)])
def test_many_separate_terms(before: int, bound: int) -> None:
    """The bound of all is the same, but each has its steps: 32,000 of 100,000,000."""
    names = [f"m{number}" for number in range(1000)]
    group = {
        "format": "rebalance/1",
        "group": "g",
        "topics": {"t": {"partitions": 3000}},
        "members": {name: {"subscription": ["t"]} for name in names},
    }
    terms = [{"kind": "separate", "bound": value} for value in (*[-1] * before, 0)]
    proof = {"by": "terms", "terms": terms}
    stated = {
        "members": {
            name: {"t": [*range(k, 3000, 1000)]} for k, name in enumerate(names)
        },
        "policy": "none; stickiness",
        "objectives": [{"of": "stickiness", "value": 0, "bound": 0, "proof": proof}],
    }
    ((found, odd),) = verdicts.compared([(group, ANSWER | stated)])
    assert odd == []
    (level,) = found["objectives"]
    assert (level["bound"], level["proved"]) == (bound, bound == 0)


def test_long_lists() -> None:
    """No list is too long for the stack: racks, claims, names and terms."""
    many = 300_000
    group = {
        "format": "rebalance/1",
        "group": "g",
        "topics": {"t": {"partitions": 1, "racks": [[f"r{k}" for k in range(many)]]}},
        "members": {"a": {"subscription": ["t"], "rack": "r0"}},
    }
    named = {"kind": "average", "bound": 0, "members": ["a"] * many}
    zeros = [{"kind": "zero", "bound": 0}] * many
    levels = [
        {"of": of, "value": 0, "bound": 0, "proof": {"by": "terms", "terms": terms}}
        for of, terms in (("rack", zeros), ("peak-lag", [named, *zeros]))
    ]
    answer = {
        "format": "assignment/1",
        "members": {"a": {"t": [0]}},
        "policy": "none; rack, peak-lag",
        "objectives": levels,
    }
    ((found, odd),) = verdicts.compared([(group, answer)])
    assert odd == []
    assert [level["proved"] for level in found["objectives"]] == [True, True]


def test_mutated_lines() -> None:
    seed = FIRST_SEED + 1
    pairs = list(islice(mutated_lines(seed), LINES))
    counted: Counter[str] = Counter()
    for place, (found, odd) in enumerate(verdicts.compared_lines(pairs)):
        last_drawn.note(repr(pairs[place]), f"{seed}, draw {place}")
        assert odd == []
        counted[found["verdict"]] += 1
    assert counted["unreadable"] > LINES // 4
    assert counted["valid"] > LINES // 10
    assert counted["invalid"] > LINES // 50


def test_nothing_is_said_of_the_checker_itself(tmp_path: Path) -> None:
    """No message tells of an exception: what cannot be opened is named."""
    folder, lacking = str(tmp_path), str(tmp_path / "none")
    for files in ((), ("-", "-"), (folder, "-"), (lacking, "-")):
        command = [str(proofs.CHECKER), *files]
        ran = subprocess.run(command, input=b"", capture_output=True, check=False)
        assert ran.returncode == 2
        assert re.fullmatch(rb"checker: [^\n]+\n", ran.stderr)
