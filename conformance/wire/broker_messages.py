"""Requests and responses of a broker, as kafka-python's message classes.

kafka-python generates its classes from Kafka's own message definitions, with decoders
of requests and encoders of responses. Its decoders check lengths late or not at all, so
frames are limited before they are decoded:

- Two bytes can become an object of a hundred bytes, so only the one request that is
  legitimately large can have more than a megabyte.
- Of a flexible version, each structure with tagged fields copies the rest of the frame,
  which takes quadratic time. Flexible versions are offered only on request, and their
  frames are limited to 128 KiB.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from kafka.protocol.api_key import ApiKey
from kafka.protocol.consumer import (
    FetchRequest,
    FetchResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kafka.protocol.metadata import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    MetadataRequest,
    MetadataResponse,
)

from rebalance import WireError

API_VERSIONS: Final = 18
METADATA: Final = 3
FIND_COORDINATOR: Final = 10
JOIN_GROUP: Final = 11
SYNC_GROUP: Final = 14
HEARTBEAT: Final = 12
LEAVE_GROUP: Final = 13
OFFSET_COMMIT: Final = 8
OFFSET_FETCH: Final = 9
LIST_OFFSETS: Final = 2
FETCH: Final = 1

LARGEST_FRAME: Final = 4 << 20  # bytes, of a leader's SyncGroup: 1,000,000 partitions
LARGE_FRAME: Final = 1 << 20  # bytes, of any other request
LARGE_FLEXIBLE_FRAME: Final = 128 << 10  # bytes, of a flexible version
HEAD_BYTES: Final = 4  # API key and version, two 16-bit numbers
_HEAD: Final = struct.Struct(">hh")


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """One API: its classes, and the versions that are offered.

    Attributes
    ----------
    request, response : type
        Message classes.
    least : int
        Least version that Kafka's current message definitions contain.
    plain : int
        Newest version that is not flexible.
    newest : int
        Newest version that is supported; only offered if flexible versions are.
    """

    request: Any
    response: Any
    least: int
    plain: int
    newest: int

    def newest_offered(self, *, flexible: bool) -> int:
        """Return the newest version that is offered."""
        return self.newest if flexible else self.plain


def _api(request: Any, response: Any, least: int, plain: int, newest: int) -> Api:
    return Api(
        request=request, response=response, least=least, plain=plain, newest=newest
    )


# OffsetCommit 10, OffsetFetch 10, and Fetch 13 replace topic names by ids.
APIS: Final = MappingProxyType(
    {
        FETCH: _api(FetchRequest, FetchResponse, 4, 11, 12),
        LIST_OFFSETS: _api(ListOffsetsRequest, ListOffsetsResponse, 1, 5, 7),
        METADATA: _api(MetadataRequest, MetadataResponse, 0, 8, 12),
        OFFSET_COMMIT: _api(OffsetCommitRequest, OffsetCommitResponse, 2, 7, 9),
        OFFSET_FETCH: _api(OffsetFetchRequest, OffsetFetchResponse, 1, 5, 9),
        FIND_COORDINATOR: _api(
            FindCoordinatorRequest, FindCoordinatorResponse, 0, 2, 5
        ),
        JOIN_GROUP: _api(JoinGroupRequest, JoinGroupResponse, 0, 5, 9),
        HEARTBEAT: _api(HeartbeatRequest, HeartbeatResponse, 0, 3, 4),
        LEAVE_GROUP: _api(LeaveGroupRequest, LeaveGroupResponse, 0, 3, 5),
        SYNC_GROUP: _api(SyncGroupRequest, SyncGroupResponse, 0, 3, 5),
        # 3 is flexible, but clients send it before they know the offered versions.
        API_VERSIONS: _api(ApiVersionsRequest, ApiVersionsResponse, 0, 3, 4),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A decoded request; ``body`` is an object of kafka-python's class."""

    key: int
    version: int
    correlation: int
    body: Any

    @property
    def name(self) -> str:
        """Name, API key, and version."""
        return _named(self.key, self.version)


class UnknownVersionError(WireError):
    """A version of ApiVersions that is not known: clients then ask with version 0."""

    def __init__(self, correlation: int) -> None:
        super().__init__("unknown version of ApiVersions", offset=2)
        self.correlation = correlation


def largest_frame(head: bytes) -> int:
    """Return the size limit of a frame, bytes, from its API key and version.

    Raises
    ------
    WireError
        If the API is not offered.
    """
    key, version = _HEAD.unpack_from(head)
    if key not in APIS:
        raise WireError(f"{request_name(head)}: not offered here", offset=0)
    if version > APIS[key].plain or key == API_VERSIONS:
        return LARGE_FLEXIBLE_FRAME
    return LARGEST_FRAME if key == SYNC_GROUP else LARGE_FRAME


def request_name(head: bytes) -> str:
    """Return the name, API key, and version of a request from its first bytes."""
    return _named(*_HEAD.unpack_from(head))


def _named(key: int, version: int) -> str:
    try:
        return f"{ApiKey(key).name} (API {key}) version {version}"
    except ValueError:
        return f"API {key} version {version}"


def check_size(head: bytes, size: int) -> None:
    """Check the length of a frame by its first bytes.

    Raises
    ------
    WireError
        If the frame is too large, or its API is not offered.
    """
    limit = largest_frame(head)
    if size > limit:
        reason = f"{request_name(head)}: a frame of {size} bytes, above {limit}"
        raise WireError(reason, offset=0)


def decode_request(frame: bytes) -> Request:
    """Decode a frame without its length.

    Raises
    ------
    WireError
        If it is not a request of an API and version that are known.
    """
    if len(frame) < HEAD_BYTES + 4:
        raise WireError(f"a frame of {len(frame)} bytes", offset=0)
    check_size(frame, len(frame))
    key, version = _HEAD.unpack_from(frame)
    api = APIS[key]
    (correlation,) = struct.unpack_from(">i", frame, HEAD_BYTES)
    if not api.least <= version <= api.newest:
        if key == API_VERSIONS:
            raise UnknownVersionError(correlation)
        known = f"versions {api.least} to {api.newest} are known"
        raise WireError(f"{request_name(frame)}: {known}", offset=2)
    try:
        body = api.request[version].decode(frame, header=True)
    except Exception as error:  # noqa: BLE001  # the library leaks errors of any class
        detail = f"cannot be decoded: {type(error).__name__}: {error}"
        reason = f"{request_name(frame)}: {detail}"
        raise WireError(reason, offset=HEAD_BYTES) from None
    return Request(key=key, version=version, correlation=correlation, body=body)


def encode_response(request: Request, /, **fields: Any) -> bytes:
    """Encode the response to a request as a frame with its length.

    Fields that the version lacks are omitted; fields not named have their defaults.
    """
    message = APIS[request.key].response(version=request.version, **fields)
    message.with_header(correlation_id=request.correlation)
    return bytes(message.encode(header=True, framed=True))


def part(request: Request, name: str, /, **fields: Any) -> Any:
    """Return a structure of the response to a request, in the request's version."""
    return getattr(APIS[request.key].response, name)(version=request.version, **fields)
