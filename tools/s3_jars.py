"""Fetch the jars with which Spark reads and writes S3 (docs/recipes/README.md).

They are Hadoop's client of S3, in the version of Spark's Hadoop, and its dependencies
that Spark does not have: Amazon's SDK for Java, as one file, and its reader of columns.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from conformance.clients.jars import Jar, fetch
from conformance.java import java_home
from rebalance import OracleError
from tools.side_environment import ROOT

FOLDER: Final = ROOT / "build" / "s3"
SECONDS: Final = 3000
"""Time limit: the SDK has 686 MB."""

S3_JARS: Final = (
    Jar(
        group="org.apache.hadoop",
        name="hadoop-aws",
        version="3.5.0",
        sha256="66bd9eefb938b1a1657487324b63c13df2d8b17164a1dd24e0ef37b905bc5baa",
    ),
    Jar(
        group="software.amazon.awssdk",
        name="bundle",
        version="2.35.4",
        sha256="db4b55f24ad1b4e70f17eb1717a4de76a8dadc5a27d764be7c44ff67b2c1c677",
    ),
    Jar(
        group="software.amazon.s3.analyticsaccelerator",
        name="analyticsaccelerator-s3",
        version="1.3.1",
        sha256="4959a9747cbb479c73c3ffbcd479bee5b014f8b2880994585a8693fb9d24675e",
    ),
)
"""``hadoop-aws`` and the compile dependencies of its POM."""


def make_s3_jars(folder: Path = FOLDER) -> Path:
    """Fetch the jars that the folder lacks; return the folder.

    Raises
    ------
    OutsideError
        If there is no Java, or a jar cannot be fetched.
    """
    fetch(S3_JARS, folder, java=java_home().home / "bin" / "java", seconds=SECONDS)
    return folder


def main() -> int:
    """Fetch the jars that a folder lacks, and print the folder."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    try:
        print(make_s3_jars(parser.parse_args().folder))
    except OracleError as error:
        print(f"s3-jars: failed: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
