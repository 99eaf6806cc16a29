"""Text of ``kafka-consumer-groups --describe``: its tables, and what they add up to."""
