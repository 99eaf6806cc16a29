"""Frames to requests and back, in every version that is supported."""

from __future__ import annotations

import struct

import pytest

from conformance.wire.broker_messages import (
    API_VERSIONS,
    APIS,
    LARGE_FLEXIBLE_FRAME,
    LARGE_FRAME,
    LARGEST_FRAME,
    METADATA,
    SYNC_GROUP,
    UnknownVersionError,
    decode_request,
    encode_response,
    largest_frame,
)
from rebalance import WireError
from tests.conformance.wire.client import request

VERSIONS = [
    (key, version)
    for key, api in sorted(APIS.items())
    for version in range(api.least, api.newest + 1)
]


@pytest.mark.parametrize(("key", "version"), VERSIONS)
def test_every_version_is_read_and_answered(key: int, version: int) -> None:
    read = decode_request(request(key, version, correlation=41))
    assert (read.key, read.version, read.correlation) == (key, version, 41)
    frame = encode_response(read)
    length, correlation = struct.unpack_from(">ii", frame)
    assert (length, correlation) == (len(frame) - 4, 41)
    kind = APIS[key].response
    assert kind[version].decode(frame, header=True, framed=True) is not None


def test_versions_that_are_not_flexible() -> None:
    for api in APIS.values():
        first = api.request._flexible_versions[0]
        assert api.plain == first - 1 or api.request is APIS[API_VERSIONS].request
        assert api.newest <= api.request.max_version


def test_frames_that_are_no_request() -> None:
    good = request(METADATA, 8, topics=[])
    with pytest.raises(WireError, match="a frame of 3 bytes"):
        decode_request(good[:3])
    with pytest.raises(WireError, match=r"Produce \(API 0\) version 8: not offered"):
        decode_request(b"\0\0" + good[2:])
    with pytest.raises(WireError, match=r"Metadata \(API 3\) version 99: versions"):
        decode_request(struct.pack(">hh", METADATA, 99) + good[4:])
    with pytest.raises(WireError, match=r"Metadata \(API 3\) version 8: cannot be"):
        decode_request(good[:-4])


def test_an_unknown_version_of_the_first_request_is_recognized() -> None:
    frame = struct.pack(">hhi", API_VERSIONS, 77, 5)
    with pytest.raises(UnknownVersionError) as error:
        decode_request(frame)
    assert error.value.correlation == 5


def test_size_limits() -> None:
    def limit(key: int, version: int) -> int:
        return largest_frame(struct.pack(">hh", key, version))

    assert limit(SYNC_GROUP, 3) == LARGEST_FRAME
    assert limit(SYNC_GROUP, 4) == LARGE_FLEXIBLE_FRAME
    assert limit(METADATA, 8) == LARGE_FRAME
    assert limit(METADATA, 9) == LARGE_FLEXIBLE_FRAME
    with pytest.raises(WireError, match="a frame of 1048584 bytes, above 131072"):
        decode_request(struct.pack(">hhi", METADATA, 9, 1) + bytes(LARGE_FRAME))
