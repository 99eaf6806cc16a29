"""An adapter that behaves as the group's name states, line by line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time


def answer(rebalance: dict[str, object]) -> str:
    members = rebalance["members"]
    assert isinstance(members, dict)
    given: dict[str, object] = {m: {} for m in members}
    return json.dumps({"format": "assignment/1", "members": given})


def spin(seconds: float) -> None:
    """Use this much CPU time, however busy the machine is."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


for line in sys.stdin:
    document = json.loads(line)
    match document["group"]:
        case "raise":
            print('{"error":"java.lang.Oops: of one instance"}', flush=True)
        case "broken error":
            print('{"error":', flush=True)
        case "hang":
            time.sleep(60)
        case "spin":
            spin(3600)
        case "child":  # which does not end with its parent
            loop = "while True: pass"
            subprocess.run([sys.executable, "-I", "-S", "-c", loop], check=False)
        case "slow":
            spin(0.3)
            print(answer(document), flush=True)
        case "half a line":
            print('{"format":"assign', end="", flush=True)
            time.sleep(60)
        case "exit":
            print("last words", file=sys.stderr, flush=True)
            sys.exit(3)
        case "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "nonsense":
            print("[1, 2]", flush=True)
        case "two lines":
            print(f"{answer(document)}\n{answer(document)}", flush=True)
        case "a line and a half":
            print(f"{answer(document)}\n{{", end="", flush=True)
            time.sleep(60)
        case "a line too late":
            print(answer(document), flush=True)
            time.sleep(0.2)
            print(answer(document), flush=True)
        case "no end":
            while True:
                sys.stdout.write("x" * 65536)
        case "answer and die":
            print(answer(document), flush=True)
            sys.exit(0)
        case "chatter":
            print("x" * 1_000_000, file=sys.stderr, flush=True)
            print(answer(document), flush=True)
        case _:
            print(answer(document), flush=True)
