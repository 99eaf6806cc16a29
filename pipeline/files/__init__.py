"""Files by URI: on this machine, or in any file system that Hadoop supports."""

from pipeline.files.hadoop_store import HadoopStore
from pipeline.files.local_store import LOCAL_STORES, LocalStore, status_of
from pipeline.files.location import (
    LOCAL,
    Location,
    as_given,
    is_local,
    local_path,
    name_of,
    shown,
    uri_of,
)
from pipeline.files.stores import FileEntry, FileStore, Stores

__all__ = [
    "LOCAL",
    "LOCAL_STORES",
    "FileEntry",
    "FileStore",
    "HadoopStore",
    "LocalStore",
    "Location",
    "Stores",
    "as_given",
    "is_local",
    "local_path",
    "name_of",
    "shown",
    "status_of",
    "uri_of",
]
