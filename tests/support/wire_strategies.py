"""Random messages: encodable values, and damaged bytes."""

from __future__ import annotations

from hypothesis import strategies as st

from rebalance.protocol import MemberAssignment, StickyUserData, Subscription

INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
BYTES = st.binary(max_size=12)
PARTITIONS = st.lists(
    st.tuples(TEXT, st.lists(INT32, max_size=4).map(tuple)), max_size=4
).map(tuple)


@st.composite
def subscriptions(draw: st.DrawFn) -> Subscription:
    """Draw a subscription of any version with every field of that version."""
    version = draw(st.integers(0, 3))
    return Subscription(
        version=version,
        topics=tuple(draw(st.lists(TEXT, max_size=4))),
        user_data=draw(st.none() | BYTES),
        owned=draw(PARTITIONS) if version >= 1 else (),
        generation=draw(INT32) if version >= 2 else -1,
        rack=draw(st.none() | TEXT) if version >= 3 else None,
    )


def assignments() -> st.SearchStrategy[MemberAssignment]:
    return st.builds(
        MemberAssignment,
        version=st.integers(0, 3),
        partitions=PARTITIONS,
        user_data=st.none() | BYTES,
    )


@st.composite
def sticky_user_data(draw: st.DrawFn) -> StickyUserData:
    version = draw(st.integers(0, 1))
    return StickyUserData(
        version=version,
        partitions=draw(PARTITIONS),
        generation=draw(INT32) if version else -1,
        prefixed=draw(st.booleans()) if version else False,
    )


@st.composite
def damaged(draw: st.DrawFn, sound: tuple[bytes, ...]) -> bytes:
    """Draw a sound message with a few bytes changed, and maybe cut or lengthened."""
    data = bytearray(draw(st.sampled_from(sound)))
    for _ in range(draw(st.integers(0, 3))):
        if data:
            place = draw(st.integers(0, len(data) - 1))
            data[place] = draw(st.sampled_from((0, 1, 0x7F, 0x80, 0xFF)) | _BYTE)
    cut = draw(st.integers(0, len(data)))
    return bytes(data[: draw(st.sampled_from((len(data), cut)))] + draw(_TAIL))


_BYTE = st.integers(0, 255)
_TAIL = st.sampled_from((b"",)) | st.binary(max_size=4)
