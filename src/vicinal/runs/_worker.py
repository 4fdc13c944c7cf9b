"""The worker process: requests come in as JSON lines, replies go out as JSON lines.

A process apart from the one that keeps the records, so that a crash in a learner costs one cell.
Plain pipes and JSON rather than ``multiprocessing``: nothing is pickled, no start-up code of the
caller's script is run again, and the end of the caller is seen as the end of the input.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from importlib import import_module
from queue import SimpleQueue
from typing import Any


def main() -> None:
    """Answer requests until the input ends."""
    replies = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)  # what learners print must not be taken for a reply
    requests: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    sys.path[:] = json.loads(requests.get())
    answering: dict[str, Any] = {}
    while True:
        request = json.loads(requests.get())
        job = request["job"]
        if job not in answering:
            answering[job] = _find(job)
        reply = answering[job].answer(request)
        replies.write(json.dumps(reply, allow_nan=False) + "\n")


def _find(job: str) -> Any:
    """Make whoever answers a kind of request, "package:Class": the engine knows none of them."""
    package, _, name = job.partition(":")
    return getattr(import_module(package), name)()


def _listen(requests: SimpleQueue[Any]) -> None:
    """Hand requests on; when the caller is gone, end at once, even in the middle of a fit."""
    for line in sys.stdin:
        requests.put(line)
    os._exit(0)


if __name__ == "__main__":
    main()
