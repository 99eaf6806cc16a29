"""Locations as users write them, and the roots of file systems among them.

Reaches into `pipeline.files` to compare the forms of one location.
"""

from __future__ import annotations

from unittest.mock import MagicMock

import pytest
from pyspark.sql import SparkSession

from pipeline.files import HadoopStore, shown, uri_of


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("s3a://bucket/a/b//", "s3a://bucket/a/b"),
        ("s3a://bucket/", "s3a://bucket"),
        ("s3a://bucket", "s3a://bucket"),
        ("hdfs://name:8020/", "hdfs://name:8020"),
        ("hdfs:///a/", "hdfs:///a"),
        ("hdfs:///", "hdfs://"),
        ("file:///a/b/", "file:/a/b"),
        ("/a/b/", "file:/a/b"),
    ],
)
def test_a_location_has_no_slash_at_its_end(given: str, expected: str) -> None:
    assert uri_of(given) == expected
    assert uri_of(shown(expected)) == expected


@pytest.mark.parametrize("root", ["s3a://bucket", "hdfs://name:8020", "hdfs://"])
def test_bug_hadoop_receives_the_path_of_a_root(root: str) -> None:
    """Without a path, S3's client refused the location: "path is relative"."""
    spark = MagicMock()
    store = HadoopStore(spark)
    for location, received in ((root, f"{root}/"), (f"{root}/a b", f"{root}/a b")):
        store.is_folder(location)
        spark._jvm.org.apache.hadoop.fs.Path.assert_called_with(received)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("location", "stated"),
    [
        ("s3a://bucket/a", r"^Spark has no jars for s3a: \(docs/recipes, S3\)$"),
        ("s3://bucket/a", "^the scheme of S3 is s3a: here$"),
    ],
)
def test_a_file_system_that_spark_lacks(
    spark: SparkSession, location: str, stated: str
) -> None:
    with pytest.raises(OSError, match=stated):
        HadoopStore(spark.sparkContext).is_folder(location)
