"""A user id without an entry in ``/etc/passwd``, as containers run under.

Hadoop's classes, which Spark calls at its start, ask the operating system for the name
of the user and end without one ("invalid null input: name"). Here, the user is logged
in under a given name before Spark starts, and no file of the system is changed.
"""

from __future__ import annotations

import os
import pwd
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pyspark import SparkConf, SparkContext

USER: Final = "SPARK_USER"
"""Spark's own variable for the name of its user."""


NO_HOME: Final = Path("/nonexistent")


def is_nameless() -> bool:
    """Return whether the operating system has no name for this user."""
    try:
        return not pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return True


def name_of_user() -> str:
    """Return the name for Spark: of its variable, of Hadoop's, else the number."""
    given = os.environ.get(USER) or os.environ.get("HADOOP_USER_NAME")
    return given or str(os.geteuid())


def home_option() -> str:
    """Return Java's option for the user's home, which is "?" without a name.

    Spark wants an absolute path there, even if nothing is read from it.
    """
    home = Path(os.environ.get("HOME") or NO_HOME)
    return shlex.quote(f"-Duser.home={home if home.is_absolute() else NO_HOME}")


def log_in(settings: Mapping[str, str]) -> None:
    """Start Spark's Java, if there is none yet, and log the user in there.

    The settings are those of the session, some of which are options of Java.
    """
    conf = SparkConf()
    for key, value in settings.items():
        conf.set(key, value)
    SparkContext._ensure_initialized(conf=conf)
    java: Any = SparkContext._jvm
    users = java.org.apache.hadoop.security.UserGroupInformation
    users.setLoginUser(users.createRemoteUser(name_of_user()))
