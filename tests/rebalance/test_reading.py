"""Files of documents: one document or lines, valid or damaged, plain or gzip."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given

from rebalance import (
    AssignmentDocument,
    DocumentError,
    Rebalance,
    SourceError,
    parse_assignment,
    read_documents,
    read_rebalances,
    reading,
)
from tests.support.shapes import Document
from tests.support.strategies import rebalances


def document(group: str = "g", **more: object) -> Document:
    topics = {"t": {"partitions": 2}}
    members = {"a": {"subscription": ["t"]}}
    head = {"format": "rebalance/1", "group": group}
    return {**head, "topics": topics, "members": members, **more}


def line(group: str = "g") -> bytes:
    return json.dumps(document(group)).encode() + b"\n"


Write = Callable[[bytes], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(content: bytes) -> str:
        path = tmp_path / "input.jsonl"
        path.write_bytes(content)
        return str(path)

    return written


def groups(source: str) -> list[str]:
    """Group of each document, or the message of what is no document."""
    return [
        str(found) if isinstance(found, DocumentError) else found.group
        for found in read_rebalances(source)
    ]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(document()).encode(),
        line(),
        b"\n\n  \n" + line() + b"\r\n\n",
        json.dumps(document(), indent=2).encode(),
        json.dumps(document(), indent=0).encode() + b"\n\n\n",
        json.dumps(document(), indent="\t").replace("\n", "\r\n").encode(),
        json.dumps(document(), indent=2).replace("\n", "\n\n").encode(),
        gzip.compress(line(), mtime=0),
    ],
)
def test_one_document_however_laid_out(write: Write, content: bytes) -> None:
    assert groups(write(content)) == ["g"]


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\n\n \n"])
def test_lines(write: Write, end: bytes) -> None:
    content = line("a") + b"\n" + line("b") + line("c").rstrip() + end
    assert groups(write(content)) == ["a", "b", "c"]
    assert groups(write(gzip.compress(content))) == ["a", "b", "c"]


def test_a_bad_line_costs_that_line(write: Write) -> None:
    bad = json.dumps(document(topics={"t": {"partitions": -1}})).encode()
    source = write(line("a") + bad + b"\n\n" + b'{"x\n' + line("b") + b"1\n")
    first, negative, torn, last, number = read_rebalances(source)
    assert isinstance(first, Rebalance)
    assert isinstance(last, Rebalance)
    assert isinstance(negative, DocumentError)
    assert (negative.source, negative.line) == (source, 2)
    assert negative.path == "$.topics.t.partitions"
    assert isinstance(torn, DocumentError)
    assert torn.line == 4
    assert isinstance(number, DocumentError)
    assert number.line == 6
    assert str(negative).startswith(f"{source}:2: $.topics.t.partitions: ")


@pytest.mark.parametrize(
    "broken", [b"{", b"\xff\xfe\n", b"hello\n\x00\n{]\n", b'{"format": "rebal\n']
)
def test_lines_whose_first_ones_are_broken_are_lines(
    write: Write, broken: bytes
) -> None:
    source = write(broken.rstrip() + b"\n" + line("a") + b"{\n" + line("b"))
    found = list(read_rebalances(source))
    good = [item.group for item in found if isinstance(item, Rebalance)]
    bad = [item.line for item in found if isinstance(item, DocumentError)]
    many = broken.rstrip().count(b"\n") + 1
    assert good == ["a", "b"]
    assert bad == [*range(1, many + 1), many + 2]


def test_a_truncated_document_is_one_error_with_its_line(write: Write) -> None:
    whole = json.dumps(document(), indent=2)
    torn = whole[: whole.index('"members"') + 9]
    source = write(b"\n\n" + torn.encode())
    (error,) = read_rebalances(source)
    assert isinstance(error, DocumentError)
    assert error.source == source
    assert f"line {torn.count(chr(10)) + 3} " in error.reason


def test_a_laid_out_document_with_a_wrong_field_is_one_error(write: Write) -> None:
    wrong = json.dumps(document(extra=1), indent=2).encode()
    (error,) = read_rebalances(write(wrong))
    assert isinstance(error, DocumentError)
    assert (error.path, error.line) == ("$.extra", None)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x00\x01\xfe\xff" * 1000, "not UTF-8 at byte 2"),
        (b"\x00" * 1000, "not JSON"),
        (b"id,group\n1,2\n2,3\n", "not JSON"),
        (b"x" * 10_000_000, "not JSON"),
        (b"[" * 10_000_000, "nested too deeply"),
        (b"1" * 10_000_000, "integer of absurd length"),
        (b'"' + b"x" * 10_000_000 + b'"', "expected rebalance/1"),
        (b"\xef\xbb\xbf" + line(), "byte order mark"),
        (json.dumps(document()).encode("utf-16"), "not UTF-8 at byte 0"),
        (b"[" + line().rstrip() + b"]\n", "expected rebalance/1"),
        (b"null", "expected rebalance/1"),
        (b"{}", "expected 'rebalance/1'"),
    ],
    ids=lambda part: ascii(part[:20]),
)
def test_what_is_no_document_is_one_short_error(
    write: Write, content: bytes, reason: str
) -> None:
    (error,) = read_rebalances(write(content))
    assert isinstance(error, DocumentError)
    assert reason in error.reason
    assert len(str(error)) < 400


def test_two_laid_out_documents_in_a_file_are_refused(write: Write) -> None:
    twice = (json.dumps(document(), indent=2) + "\n") * 2
    (error,) = read_rebalances(write(twice.encode()))
    assert isinstance(error, DocumentError)
    assert "Extra data" in error.reason


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"  \n\r\n\t\n",
        pytest.param(gzip.compress(b""), id="packed"),  # its bytes tell the time
    ],
)
def test_an_empty_file_is_an_error(write: Write, content: bytes) -> None:
    with pytest.raises(SourceError, match="empty: holds no document"):
        list(read_rebalances(write(content)))


def test_files_that_cannot_be_read(write: Write, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file") as caught:
        list(read_rebalances(str(tmp_path / "absent")))
    assert caught.value.source == str(tmp_path / "absent")
    with pytest.raises(SourceError, match="is a folder"):
        list(read_rebalances(str(tmp_path)))
    with pytest.raises(SourceError, match="NUL"):
        list(read_rebalances("a\0b"))
    with pytest.raises(SourceError, match="file name too long"):
        list(read_rebalances("x" * 5000))
    with pytest.raises(SourceError, match="not a directory"):
        list(read_rebalances(write(b"") + "/inside"))


def test_a_file_without_permission(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: Path, mode: str) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    source = write(line())
    monkeypatch.setattr(Path, "open", refused)
    with pytest.raises(SourceError, match="permission denied"):
        list(read_rebalances(source))


@pytest.mark.heavy
def test_truncated_gzip_yields_the_documents_before_the_cut(write: Write) -> None:
    packed = gzip.compress(line("a") * 3000 + os.urandom(3000).hex().encode())
    answers = read_rebalances(write(packed[:-500]))
    assert isinstance(next(answers), Rebalance)
    with pytest.raises(SourceError, match="gzip data end too early"):
        list(answers)


def test_gzip_of_rubbish(write: Write) -> None:
    with pytest.raises(SourceError, match="broken gzip data"):
        list(read_rebalances(write(b"\x1f\x8b" + b"\x08\x00" * 40)))
    broken = bytearray(gzip.compress(line()))
    broken[20] ^= 0xFF
    with pytest.raises(SourceError, match="gzip"):
        list(read_rebalances(write(bytes(broken))))


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    for content in (line("a") + line("b"), gzip.compress(line("a") + line("b"))):
        stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(content)))
        monkeypatch.setattr(sys, "stdin", stream)
        assert groups("-") == ["a", "b"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"{")))
    assert groups("-")[0].startswith("<stdin>:1: $: not JSON")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(SourceError, match="standard input is closed"):
        list(read_rebalances("-"))


def test_lines_past_the_longest_cost_themselves(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_DOCUMENT_BYTES", 400)
    monkeypatch.setattr(reading, "_SKIPPED_AT_ONCE", 7)
    good, long = line("a"), b'{"x": "' + b"y" * 1000 + b'"}\n'
    for content in (good + long + line("b"), long + good + line("b")):
        found = list(read_rebalances(write(content)))
        bad = [item for item in found if isinstance(item, DocumentError)]
        assert len(found) == 3
        assert len(bad) == 1
        assert "longer than" in bad[0].reason
    rubbish = groups(write(b"no document\n" * 200))
    assert 1 < len(rubbish) == 200


@pytest.mark.heavy
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_lines_are_not_read_at_once() -> None:
    """200 MB of lines pass through a process that may hold far less."""
    feed = (
        "import json, sys\n"
        "line = json.dumps({'format': 'rebalance/1', 'group': 'g' * 9_000,"
        " 'topics': {}, 'members': {}}) + '\\n'\n"
        "for _ in range(22_000): sys.stdout.write(line)\n"
    )
    take = (
        "import re\n"
        "from pathlib import Path\n"
        "from rebalance.reading import read_rebalances\n"
        "count = sum(1 for _ in read_rebalances('-'))\n"
        "status = Path('/proc/self/status').read_text()\n"
        "print(count, re.search(r'VmHWM:\\s+(\\d+) kB', status)[1])\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", feed], stdout=subprocess.PIPE
    ) as feeder:
        ended = subprocess.run(
            [sys.executable, "-c", take],
            stdin=feeder.stdout,
            capture_output=True,
            text=True,
            check=True,
        )
    count, most_kib = (int(word) for word in ended.stdout.split())
    assert count == 22_000
    assert most_kib < 150 * 1024


def test_assignments(write: Write) -> None:
    answer = b'{"format": "assignment/1", "members": {"a": {"t": [1]}}}\n'
    source = write(answer + b'{"format": "assignment/2"}\n' + b'{"a": 1, "a": 2}\n')
    good, unknown, repeated = read_documents(source, parse_assignment)
    assert isinstance(good, AssignmentDocument)
    assert isinstance(unknown, DocumentError)
    assert isinstance(repeated, DocumentError)
    assert good.members == {"a": {"t": [1]}}
    assert (repeated.line, repeated.path) == (3, "$.a")


@pytest.mark.heavy
@given(rebalances())
def test_layouts_agree(
    tmp_path_factory: pytest.TempPathFactory, drawn: Document
) -> None:
    """The layout of a document over lines does not affect how it is read."""
    folder = tmp_path_factory.mktemp("layouts")
    found: list[object] = []
    for number, indent in enumerate((None, 0, 2)):
        path = folder / f"{number}.json"
        path.write_text(json.dumps(drawn, indent=indent))
        found.extend(read_rebalances(str(path)))
    assert isinstance(found[0], Rebalance)
    assert found[0] == found[1] == found[2]
