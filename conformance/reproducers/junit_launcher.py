"""The console launcher of JUnit 5, one jar that contains all of it."""

from __future__ import annotations

from typing import Final

from conformance.clients.jars import Jar

JUNIT: Final = Jar(
    group="org.junit.platform",
    name="junit-platform-console-standalone",
    version="1.14.4",
    sha256="7c6968cbcaf4301c729f202b23b7d736c5d88be625fc7d27ad5d746146a8bc28",
)
