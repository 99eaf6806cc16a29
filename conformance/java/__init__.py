"""The Java runtime that Kafka's own classes, brokers, and Spark run on."""

from conformance.java.running import run_java
from conformance.java.runtime import LEAST_VERSION, JavaRuntime, java_home

__all__ = ["LEAST_VERSION", "JavaRuntime", "java_home", "run_java"]
