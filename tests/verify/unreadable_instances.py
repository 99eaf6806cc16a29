"""Instances that cannot be read: what each is, text, JSON path, and reason."""

from __future__ import annotations

HEAD = '{"format": "rebalance/1", "group": "g"'

Case = tuple[str, str | bytes, str, str]  # what it is, text, path, reason


def topics(listed: str) -> str:
    return f'{HEAD}, "topics": {listed}, "members": {{}}}}'


def members(listed: str) -> str:
    return f'{HEAD}, "topics": {{}}, "members": {listed}}}'


INSTANCES: list[Case] = [
    (
        "Bytes of no text.",
        bytes(range(255, 127, -1)),
        "$",
        "not UTF-8 at byte 0",
    ),
    (
        "true is no 1.",
        topics('{"t": {"partitions": true}}'),
        "$.topics.t.partitions",
        "true is not an integer",
    ),
    (
        "Nor is false a 0.",
        members('{"a": {"subscription": [], "owned": {"t": [0, false]}}}'),
        "$.members.a.owned.t[1]",
        "false is not an integer",
    ),
    (
        "A mark that JSON does not have.",
        (
            '\ufeff{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 2}}, "members": {"a": {"subscription": ["t"], "owned": '
            '{"t": [0]}, "generation": 1}}}'
        ),
        "$",
        "starts with a byte order mark; write plain UTF-8",
    ),
    (
        "A member that can take nothing.",
        members('{"a": {"subscription": [], "capacity": 0}}'),
        "$.members.a.capacity",
        "0 is not within 1 and 9223372036854775807",
    ),
    (
        "franz-go's partition -1.",
        (
            '{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 3}}, "members": {"a": {"subscription": ["t"], "owned": '
            '{"t": [0, -1]}}}}'
        ),
        "$.members.a.owned.t[1]",
        "-1 is not within 0 and 9223372036854775807",
    ),
    (
        "A partition twice in one claim.",
        (
            '{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 3}}, "members": {"a": {"subscription": ["t"], "owned": '
            '{"t": [2, 0, 2]}}}}'
        ),
        "$.members.a.owned.t[2]",
        "2 listed twice",
    ),
    (
        "Ten thousand lists.",
        "[" * 10_000,
        "$",
        "nested too deeply",
    ),
    (
        "No text.",
        "",
        "$",
        "not JSON: Expecting value (line 1 column 1)",
    ),
    (
        "Nor is 1e3.",
        (
            '{"format":"rebalance/1","group":"g","members":{},"topics":{"t":{"parti'
            'tions":1,"lag":[1e3]}}}'
        ),
        "$.topics.t.lag[0]",
        "a float: 1e3",
    ),
    (
        "Even 2.0 is not an integer.",
        (
            '{"format":"rebalance/1","group":"g","members":{},"topics":{"t":{"parti'
            'tions":2.0}}}'
        ),
        "$.topics.t.partitions",
        "a float: 2.0",
    ),
    (
        "One more than the protocol holds.",
        members('{"a": {"subscription": [], "generation": 2147483648}}'),
        "$.members.a.generation",
        "2147483648 is not within -1 and 2147483647",
    ),
    (
        "-1 is unknown, -2 is nothing.",
        members('{"a": {"subscription": [], "generation": -2}}'),
        "$.members.a.generation",
        "-2 is not within -1 and 2147483647",
    ),
    (
        "A float is no group.",
        '{"format":"rebalance/1","group":1.5,"members":{},"topics":{}}',
        "$.group",
        "a float: 1.5",
    ),
    (
        "No Unicode, though JSON can spell it.",
        '{"format": "rebalance/1", "group": "\\ud800", "members": {}, "topics": {}}',
        "$.group",
        "half a surrogate pair in a string",
    ),
    (
        "The same in a topic's name.",
        (
            '{"format": "rebalance/1", "group": "g", "members": {}, "topics": '
            '{"t\\udc00": {"partitions": 1}}}'
        ),
        '$.topics["t\\udc00"]',
        "half a surrogate pair in a string",
    ),
    (
        "An id is a string.",
        (
            '{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 2}}, "members": {"a": {"subscription": ["t"], "owned": '
            '{"t": [0]}, "generation": 1}}, "id": 7}'
        ),
        "$.id",
        "7 is not a string",
    ),
    (
        "Nor is -Infinity.",
        (
            '{"format":"rebalance/1","group":"g","members":{},"topics":{"t":{"parti'
            'tions":1,"lag":[-Infinity]}}}'
        ),
        "$.topics.t.lag[0]",
        "no JSON: -Infinity",
    ),
    (
        "A static member's id is a string.",
        members('{"a": {"subscription": [], "instance_id": 1}}'),
        "$.members.a.instance_id",
        "1 is not a string",
    ),
    (
        "Twenty-one digits.",
        topics('{"t": {"partitions": 1, "lag": [100000000000000000000]}}'),
        "$.topics.t.lag[0]",
        "integer beyond 64 bits",
    ),
    (
        "More digits than Python likes to read.",
        topics('{"t": {"partitions": ' + "9" * 5_000 + "}}"),
        "$.topics.t.partitions",
        "integer beyond 64 bits",
    ),
    (
        "One more than fits.",
        topics('{"t": {"partitions": 1, "lag": [9223372036854775808]}}'),
        "$.topics.t.lag[0]",
        "9223372036854775808 is not within 0 and 9223372036854775807",
    ),
    (
        "A lag for no partition.",
        topics('{"t": {"partitions": 0, "lag": [5]}}'),
        "$.topics.t.lag",
        "1 entries for 0 partitions",
    ),
    (
        "One lag for two partitions.",
        topics('{"t": {"partitions": 2, "lag": [5]}}'),
        "$.topics.t.lag",
        "1 entries for 2 partitions",
    ),
    (
        "A version that is not known.",
        (
            '{"format": "rebalance/2", "group": "g", "topics": {"t": '
            '{"partitions": 2}}, "members": {"a": {"subscription": ["t"], "owned": '
            '{"t": [0]}, "generation": 1}}}'
        ),
        "$.format",
        '"rebalance/2" is not one of rebalance/1',
    ),
    (
        "A list of instances is no instance.",
        (
            '[{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 2}}, "members": {"a": {"subscription": ["t"], "owned": '
            '{"t": [0]}, "generation": 1}}}]'
        ),
        "$",
        "a list is not an object",
    ),
    (
        "A message shows the start of a long culprit.",
        topics('{"t": {"partitions": "' + "x" * 1_000 + '"}}'),
        "$.topics.t.partitions",
        '"' + "x" * 79 + "... is not an integer",
    ),
    (
        "A member is in one rack.",
        members('{"a": {"subscription": [], "rack": ["r"]}}'),
        "$.members.a.rack",
        "a list is not a string",
    ),
    (
        "NaN is no JSON.",
        (
            '{"format":"rebalance/1","group":"g","members":{},"topics":{"t":{"parti'
            'tions":NaN}}}'
        ),
        "$.topics.t.partitions",
        "no JSON: NaN",
    ),
    (
        "-1 means that nothing was committed; it is no lag.",
        topics('{"t": {"partitions": 2, "lag": [5, -1]}}'),
        "$.topics.t.lag[1]",
        "-1 is not within 0 and 9223372036854775807",
    ),
    (
        "Fewer than none.",
        topics('{"t": {"partitions": -1}}'),
        "$.topics.t.partitions",
        "-1 is not within 0 and 9223372036854775807",
    ),
    (
        "Without its format.",
        '{"group": "g"}',
        "$.format",
        "missing",
    ),
    (
        "The group is not named.",
        (
            '{"format": "rebalance/1", "topics": {"t": {"partitions": 2}}, '
            '"members": {"a": {"subscription": ["t"], "owned": {"t": [0]}, '
            '"generation": 1}}}'
        ),
        "$.group",
        "missing",
    ),
    (
        "No members.",
        ('{"format": "rebalance/1", "group": "g", "topics": {"t": {"partitions": 2}}}'),
        "$.members",
        "missing",
    ),
    (
        "A member says nothing of what it wants.",
        members('{"a": {}}'),
        "$.members.a.subscription",
        "missing",
    ),
    (
        "No topics.",
        (
            '{"format": "rebalance/1", "group": "g", "members": {"a": '
            '{"subscription": ["t"], "owned": {"t": [0]}, "generation": 1}}}'
        ),
        "$.topics",
        "missing",
    ),
    (
        "Bytes of another encoding.",
        b'{"format": "rebalance/1", "group": "\xe9"}',
        "$",
        "not UTF-8 at byte 36",
    ),
    (
        "A byte that JSON has no use for.",
        "\x00",
        "$",
        "not JSON: Expecting value (line 1 column 1)",
    ),
    (
        "Nothing.",
        "null",
        "$",
        "null is not an object",
    ),
    (
        "An optional key is left out, not null.",
        topics('{"t": {"partitions": 1, "lag": null}}'),
        "$.topics.t.lag",
        "null is not a list",
    ),
    (
        "An assignment where an instance is due.",
        '{"format": "assignment/1", "members": {"a": {"t": [0, 1]}}}',
        "$.format",
        '"assignment/1" is not one of rebalance/1',
    ),
    (
        "A claim names its topics.",
        members('{"a": {"subscription": [], "owned": []}}'),
        "$.members.a.owned",
        "a list is not an object",
    ),
    (
        "A rack that is not a string.",
        topics('{"t": {"partitions": 1, "racks": [["a", 1]]}}'),
        "$.topics.t.racks[0][1]",
        "1 is not a string",
    ),
    (
        "Racks without the list of each partition.",
        topics('{"t": {"partitions": 1, "racks": ["a"]}}'),
        "$.topics.t.racks[0]",
        '"a" is not a list',
    ),
    (
        "Racks of no partition.",
        topics('{"t": {"partitions": 1, "racks": []}}'),
        "$.topics.t.racks",
        "0 entries for 1 partitions",
    ),
    (
        "A key given twice, outermost.",
        (
            '{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 2}}, "members": {"a": {"subscription": ["t"], "owned": '
            '{"t": [0]}, "generation": 1}}, "group": "h"}'
        ),
        "$.group",
        "key given twice",
    ),
    (
        "A claim on one topic given twice.",
        (
            '{"format":"rebalance/1","group":"g","topics":{},"members":{"a":{"subsc'
            'ription":[],"owned":{"t":[0],"u":[],"t":[1]}}}}'
        ),
        "$.members.a.owned.t",
        "key given twice",
    ),
    (
        "A topic given twice.",
        (
            '{"format":"rebalance/1","group":"g","members":{},"topics":{"t":{"parti'
            'tions":1},"t":{"partitions":2}}}'
        ),
        "$.topics.t",
        "key given twice",
    ),
    (
        "A number in quotes.",
        topics('{"t": {"partitions": "2"}}'),
        "$.topics.t.partitions",
        '"2" is not an integer',
    ),
    (
        "A topic's name is a string.",
        (
            '{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 1}}, "members": {"a": {"subscription": ["t", 1]}}}'
        ),
        "$.members.a.subscription[1]",
        "1 is not a string",
    ),
    (
        "A string is not a list of topics.",
        (
            '{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 1}}, "members": {"a": {"subscription": "t"}}}'
        ),
        "$.members.a.subscription",
        '"t" is not a list',
    ),
    (
        "A topic wanted twice.",
        (
            '{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 1}}, "members": {"a": {"subscription": ["t", "u", '
            '"t"]}}}'
        ),
        "$.members.a.subscription[2]",
        '"t" listed twice',
    ),
    (
        "Cut in half.",
        (
            '{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 2}}, "m'
        ),
        "$",
        "not JSON: Unterminated string starting at (line 1 column 77)",
    ),
    (
        "One after the other on one line.",
        (
            '{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 2}}, "members": {"a": {"subscription": ["t"], "owned": '
            '{"t": [0]}, "generation": 1}}} {"format": "rebalance/1", "group": '
            '"g", "topics": {"t": {"partitions": 2}}, "members": {"a": '
            '{"subscription": ["t"], "owned": {"t": [0]}, "generation": 1}}}'
        ),
        "$",
        "not JSON: Extra data (line 1 column 158)",
    ),
    (
        "A key that no rebalance has.",
        (
            '{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 2}}, "members": {"a": {"subscription": ["t"], "owned": '
            '{"t": [0]}, "generation": 1}}, "memers": {}}'
        ),
        "$.memers",
        "unknown key",
    ),
    (
        "A key that no member has.",
        members('{"a b": {"subscription": [], "x": 1}}'),
        '$.members["a b"].x',
        "unknown key",
    ),
    (
        "A key that no topic has.",
        topics('{"t": {"partitions": 1, "replicas": 3}}'),
        "$.topics.t.replicas",
        "unknown key",
    ),
    (
        "More partitions than the limit, over all topics.",
        topics('{"t": {"partitions": 10000000}, "u": {"partitions": 1}}'),
        "$.topics.u.partitions",
        "10000001 partitions up to here, above the limit 10000000",
    ),
    (
        "More partitions than the limit, in one topic.",
        topics('{"t": {"partitions": 10000001}}'),
        "$.topics.t.partitions",
        "10000001 partitions up to here, above the limit 10000000",
    ),
]
