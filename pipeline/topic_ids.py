"""Topic ids as text: Kafka's own form of a ``Uuid`` after a prefix.

No topic has a colon in its name, so an id is never mistaken for a name.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from functools import lru_cache
from typing import Final

_PREFIX: Final = "id:"


@lru_cache(4_096)
def text_of_id(topic_id: bytes) -> str:
    """Return the text of an id of 16 bytes."""
    return _PREFIX + urlsafe_b64encode(topic_id).decode().rstrip("=")


def is_topic_id(topic: str) -> bool:
    """Return whether a topic is given by its id."""
    return topic.startswith(_PREFIX)


def plain_id(topic: str) -> str:
    """Return an id as Kafka's tools print it."""
    return topic.removeprefix(_PREFIX)


def id_of_plain(text: str) -> str:
    """Return the text of an id that Kafka's tools printed."""
    return _PREFIX + text


def bytes_of_id(topic: str) -> bytes:
    """Return the 16 bytes of the text of an id."""
    return urlsafe_b64decode(f"{topic.removeprefix(_PREFIX)}==")
