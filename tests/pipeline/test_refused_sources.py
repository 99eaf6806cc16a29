"""Files that are no source, with the errors that say so, in every encoding."""

from __future__ import annotations

import gzip
import io
import json
import re
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.sources.find import find_sources
from rebalance import SourceError
from tests.pipeline.test_avro_files import avro
from tests.pipeline.test_sources import LOG, jsonl
from tests.pipeline.test_text_encodings import ENCODINGS
from tests.support.snapshots import check_snapshot

FRANZ_GO_PLAN: Final = (
    'Feb 21, 2023 @ 15:16:57.304\t{"level":"info","caller":"kgo.go:317","msg":"balance '
    'group member","id":"p-0b29"}\nFeb 21, 2023 @ 15:16:57.304\t{"level":"info",'
    '"msg":"balanced","plan":"p-08cd{notify.v3[1 32]}, p-0b29{}"}\n'
)
AKHQ: Final = {
    "id": "orders",
    "state": "STABLE",
    "members": [{"consumerId": "c1", "assignments": [{"topic": "t", "partition": 0}]}],
    "offsets": [{"topic": "t", "partition": 0, "offset": 5}],
}
KAFKA_NODE: Final = {"orders": {"groupId": "orders", "members": [], "state": "Stable"}}
DUMPED: Final = (
    "Dumping /var/lib/kafka/__consumer_offsets-0/00000000000000000000.log",
    "Log starting offset: 0",
    "baseOffset: 0 lastOffset: 0 count: 1 baseSequence: -1 lastSequence: -1",
    "| offset: 0 CreateTime: 1 keySize: 10 valueSize: -1 sequence: -1 headerKeys: []",
    '| key: {"type":"2","data":{"group":"g"}} payload: <DELETE>',
)
TEXTS: Final[dict[str, str]] = {
    "nothing": "\n \n",
    "a text": "ünknown\n",
    "a plan of franz-go": FRANZ_GO_PLAN,
    "a group of AKHQ": json.dumps(AKHQ),
    "groups of kafka-node": json.dumps(KAFKA_NODE, indent=2),
    **{f"output of kafka-dump-log: {n}": f"noise\n{x}\n" for n, x in enumerate(DUMPED)},
    "partition counts": '{"orders": 3, "payments": 1}\n',
    "log ends": '{"offsets": {}}\n',
    "fields with keys in hex": '{"k": "0002000167", "v": "00"}\n',
    "fields with keys in base64": '{"k": "AAIAAWc=", "v": null}\n',
    "fields without keys": '{"a": "x", "b": 1}\n',
    "no partition count": '{"t": true}\n',
    "no fields": "{}\n",
    "groups of an old formatter": """\
console-consumer-1::GroupMetadata(groupId=console-consumer-1, generation=2, \
protocolType=Some(consumer), currentState=Empty, members=Map())
console-consumer-6657::NULL
""",
    "commits of an old formatter": """\
[gone,t,0]::NULL
[g,t,0]::OffsetAndMetadata(offset=5, leaderEpoch=Optional[0], metadata=, \
commitTimestamp=1717124199818, expireTimestamp=None)
""",
    "records without their bytes": (
        "CreateTime:5\tPartition:0\tOffset:1\t\0\2\0\1g\t\0\3\0\n"
    ),
    "records without a place": "CreateTime:5\t\\x00\\x02\\x00\\x01g\tnull\n",
    "records without anything": "\\x00\\x02\\x00\\x01g\tnull\n",
}


def parquet_of(**columns: list[object]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


TABLE: Final = parquet_of(key=[b""], value=[b""], partition=[0], offset=[0])
AVRO: Final = avro([{"key": b"k", "payload": b"v"}])
BYTES: Final[dict[str, bytes]] = {
    "no bytes": b"",
    "a picture": b"GIF89a\x00\x01",
    "half of a packed file": b"\x1f\x8b\x08junk",
    "no more than the begin of a Parquet file": b"PAR1 and no more",
    **{f"a Parquet file without its last {n} bytes": TABLE[:-n] for n in (1, 8, 99)},
    "Parquet without values": parquet_of(key=[b""], partition=[0], offset=[0]),
    "Parquet without rows": parquet_of(key=[]),
    "Parquet with text": parquet_of(
        key=["0002"], value=["00"], partition=[0], offset=[0]
    ),
    "Avro without fields": AVRO,
    "half of an Avro file": AVRO[:20],
}


def refused(path: Path, data: bytes, source_format: str | None = None) -> str:
    """Return why a file is no source."""
    path.write_bytes(data)
    with pytest.raises(SourceError) as error:
        find_sources([path], source_format=source_format)
    assert error.value.source == path.name
    # What libraries say varies.
    return re.sub(r"(unreadable[^:]*): .*", r"\1", error.value.reason)


def test_each_file_is_refused_with_a_reason(tmp_path: Path) -> None:
    """Of all, the reasons are a snapshot; a text has one in every encoding."""
    odd, said = tmp_path / "odd", {}
    for name, text in TEXTS.items():
        said[name] = refused(odd, text.encode())
        for encode in ENCODINGS.values():
            for pack in (bytes, gzip.compress):
                assert refused(odd, pack(encode(text))) == said[name]
        if name.startswith("output of kafka-dump-log"):
            reason = refused(odd, text.encode(), "consumer-offsets")
            assert reason == said[name]
    said |= {name: refused(odd, data) for name, data in BYTES.items()}
    lines = "".join(f"{name}: {reason}\n" for name, reason in said.items())
    check_snapshot("refused-sources.txt", lines)


@pytest.mark.parametrize("name", [*TEXTS, *BYTES])
def test_a_file_that_is_refused_costs_no_other(tmp_path: Path, name: str) -> None:
    (tmp_path / "good.jsonl").write_text(jsonl(LOG.records))
    data = TEXTS[name].encode() if name in TEXTS else BYTES[name]
    (tmp_path / "odd").write_bytes(data)
    found = find_sources([tmp_path])
    assert [file.name.rsplit("/")[-1] for file in found.files] == ["good.jsonl"]
    assert len(found.unknown) == 1
