"""Consumers as processes: each reports its callbacks as lines of JSON.

The argument is a JSON object: ``bootstrap``, ``group``, ``client``, ``topics``,
``assignors``, ``instance`` (or null), ``protocol`` (``classic`` or ``consumer``), and
``session_ms``. Each line of input is a new subscription, a JSON array of topics; the
end of the input makes the consumer leave. ``Member.java`` of `conformance.broker` does
the same for kafka-clients.
"""
