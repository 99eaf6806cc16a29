"""``python -m verify``: with nothing installed; files, pairs and options."""

from __future__ import annotations

import json

import pytest

from tests.support.shapes import CHAIN, Document, shape
from tests.verify.commands import (
    AS_CLAIMED,
    BARE,
    EVEN,
    WRONG,
    Capture,
    Files,
    judged,
    run,
)


def test_nothing_but_the_standard_library(files: Files) -> None:
    """Isolated, without site-packages: nothing else is there or loaded."""
    run_it = "import os\nos._exit = sys.exit\nexit = 0\ntry:\n    runpy.run_module("
    code = BARE.replace("runpy.run_module(", run_it)
    code += (
        "\nexcept SystemExit as end:\n    exit = end.code\n"
        "ours = {n for n in sys.modules if n.split('.')[0] == 'verify'}\n"
        "known = sys.stdlib_module_names | {'verify', '__main__'}\n"
        "foreign = {n for n in sys.modules if n.split('.')[0] not in known}\n"
        "print(exit, sorted(foreign), len(ours) > 8, file=sys.stderr)\n"
    )
    done = run(files("i", CHAIN), files("a", AS_CLAIMED), code=code)
    assert done.stderr == b"0 [] True\n"
    assert json.loads(done.stdout)["verdict"] == "valid"


def test_prints_the_verdict(files: Files) -> None:
    done = run(files("i", CHAIN, indent=2), files("a", AS_CLAIMED))
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == (
        b'{"format":"verdict/1","verdict":"valid","violations":[],"figures":{"loads":'
        b'[2,1,1,0],"kept":4,"moves":0,"kip54_score":6,"kip54_balanced":true,'
        b'"dec_min_balanced":false,"peak_lag":0,"lag_spread":0,"rack_mismatches":0},'
        b'"evidence":{"dec_min_balanced":["a","b","c","d"]},"proved":{"dec_min":false,'
        b'"stickiness":false,"peak_lag":false}}\n'
    )


def test_standard_input(files: Files) -> None:
    text = json.dumps(EVEN).encode()
    done = run(files("i", CHAIN), "-", text=text)
    assert (done.returncode, json.loads(done.stdout)["verdict"]) == (0, "valid")
    done = run("-", files("a", EVEN), text=json.dumps(CHAIN).encode())
    assert (done.returncode, json.loads(done.stdout)["verdict"]) == (0, "valid")


def test_unreadable_is_two(files: Files, capfdbinary: Capture) -> None:
    assignment = files("a", b'{"format": "assignment/1", "members": []}')
    code, (verdict,), err = judged(capfdbinary, files("i", CHAIN), assignment)
    assert (code, verdict["verdict"]) == (2, "unreadable")
    assert err == f"verify: {assignment}:1: $.members: a list is not an object\n"


def test_lines_one_verdict_each(files: Files, capfdbinary: Capture) -> None:
    instances = files("i", CHAIN, CHAIN, b"\r", json.dumps(CHAIN).encode() + b"\r")
    answers = files("a", EVEN, WRONG, AS_CLAIMED, b"", b"")
    code, verdicts, _ = judged(capfdbinary, instances, answers)
    assert code == 1
    assert [v["verdict"] for v in verdicts] == ["valid", "invalid", "valid"]
    assert verdicts[2]["figures"]["loads"] == [2, 1, 1, 0]


def test_one_unreadable_line_spoils_only_itself(
    files: Files, capfdbinary: Capture
) -> None:
    instances = files("i", CHAIN, CHAIN, b"{nonsense", CHAIN)
    answers = files("a", WRONG, b'{"format":"x"}', EVEN, EVEN)
    code, verdicts, err = judged(capfdbinary, instances, answers)
    assert code == 2
    found = [v["verdict"] for v in verdicts]
    assert found == ["invalid", "unreadable", "unreadable", "valid"]
    assert [v["evidence"]["unreadable"]["document"] for v in verdicts[1:3]] == [
        "assignment",
        "instance",
    ]
    assert len(err.splitlines()) == 2
    assert f"{instances}:3: $: not JSON" in err
    assert f"{answers}:2: $.format: " in err


def test_a_document_over_many_lines(files: Files, capfdbinary: Capture) -> None:
    text = json.dumps(CHAIN, indent=1).encode()
    odd = text.replace(b": {", b":\n{")
    for instance in (text, odd, b"\n\n" + text + b"\n\n", text.replace(b"\n", b"\r\n")):
        path = files("i", instance)
        code, verdicts, _ = judged(capfdbinary, path, files("a", EVEN))
        assert (code, len(verdicts)) == (0, 1)


def named(document: Document, name: str) -> Document:
    return document | {"id": name}


def test_pairs_by_id_where_the_order_differs(
    files: Files, capfdbinary: Capture
) -> None:
    instances = files("i", named(CHAIN, "x"), named(shape("LAG"), "y"))
    lag = {"format": "assignment/1", "id": "y", "members": {"c0": {"t0": [0, 1]}}}
    answers = files("a", lag, named(EVEN, "x"))
    code, verdicts, _ = judged(capfdbinary, instances, answers)
    assert code == 1
    assert [(v["id"], v["verdict"]) for v in verdicts] == [
        ("x", "valid"),
        ("y", "invalid"),
    ]


@pytest.mark.parametrize(
    ("instances", "answers", "reason"),
    [
        ([CHAIN], [EVEN, EVEN], "1 instances, 2 assignments: one assignment is needed"),
        ([CHAIN, CHAIN], [EVEN], "2 instances, 1 assignments: one assignment is"),
        (
            [named(CHAIN, "x")],
            [named(EVEN, "z")],
            ":1: id 'z', but the instance has 'x'",
        ),
        (
            [named(CHAIN, "x"), named(CHAIN, "y")],
            [named(EVEN, "y"), named(EVEN, "y")],
            ":1: id 'y', but the instance has 'x'",
        ),
        (
            [named(CHAIN, "x"), CHAIN, named(CHAIN, "y")],
            [EVEN, named(EVEN, "y"), named(EVEN, "x")],
            ":3: id 'x', but the instance has 'y'",
        ),
        (
            [named(CHAIN, "x"), named(CHAIN, "x")],
            [named(EVEN, "x"), named(EVEN, "z")],
            ":2: id 'z', but the instance has 'x'",
        ),
    ],
)
def test_mismatches(
    files: Files,
    capfdbinary: Capture,
    instances: list[Document],
    answers: list[Document],
    reason: str,
) -> None:
    code, verdicts, err = judged(
        capfdbinary, files("i", *instances), files("a", *answers)
    )
    assert (code, verdicts) == (2, [])
    assert reason in err
    assert err.startswith("verify: ")


def test_ids_repeated_in_the_same_order(files: Files, capfdbinary: Capture) -> None:
    instances = files("i", named(CHAIN, "x"), named(CHAIN, "x"))
    answers = files("a", named(EVEN, "x"), named(WRONG, "x"))
    code, verdicts, _ = judged(capfdbinary, instances, answers)
    assert (code, [v["verdict"] for v in verdicts]) == (1, ["valid", "invalid"])


def test_against_brute_force(files: Files, capfdbinary: Capture) -> None:
    instances, answers = (
        files("i", CHAIN, CHAIN, CHAIN),
        files("a", EVEN, AS_CLAIMED, WRONG),
    )
    code, verdicts, _ = judged(capfdbinary, instances, answers, "--against-brute-force")
    assert code == 1
    settled = [v["evidence"]["brute_force"] for v in verdicts]
    assert [s.pop("best")["kept"] for s in settled] == [1, 1, 1]
    assert settled == [
        {"dec_min": True, "stickiness": True, "peak_lag": True},
        {"dec_min": False, "stickiness": False, "peak_lag": True},
        {"dec_min": False, "stickiness": False, "peak_lag": False},
    ]


def test_brute_force_on_a_cooperative_round(files: Files, capfdbinary: Capture) -> None:
    """An assignment with withheld partitions cannot be proved optimal."""
    instance = shape("DOUBLE_CLAIM")
    held = {"c1": {"t": [1]}, "c2": {"t": [2]}, "c3": {}}
    pair = files("i", instance), files("a", {"format": "assignment/1", "members": held})
    _, (verdict,), _ = judged(
        capfdbinary, *pair, "--cooperative", "--against-brute-force"
    )
    settled = verdict["evidence"]["brute_force"]
    assert [settled[name] for name in ("dec_min", "stickiness", "peak_lag")] == [
        False
    ] * 3
