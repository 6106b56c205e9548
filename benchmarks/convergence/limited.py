"""A fit in a process of its own whose processor time is limited.

A fork costs nothing here, shares the data, and makes the limit the same for everybody: the system sends SIGXCPU when
the seconds are used up. Ours takes it as Ctrl-C and tells the gap it has; others just end.
"""

from __future__ import annotations

import json
import math
import os
import resource
import signal
from collections.abc import Callable
from typing import Any

Outcome = dict[str, Any]

GRACE = 30  # seconds beyond the limit after which a process that does not listen is ended


def limited(fit: Callable[[], Outcome], seconds: float, *, listens: bool) -> Outcome:
    """The outcome of one fit; "time_limit" where it was ended, "failed" where it raised, "crashed" where it died."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        outcome = _within(fit, seconds, listens)
        os.write(writer, json.dumps(outcome).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read()
    _, ended = os.waitpid(child, 0)
    if text:
        return json.loads(text)
    by_the_clock = os.WIFSIGNALED(ended) and os.WTERMSIG(ended) in (signal.SIGXCPU, signal.SIGKILL)
    return {"seconds": seconds, "status": "time_limit" if by_the_clock else "crashed"}


def _within(fit: Callable[[], Outcome], seconds: float, listens: bool) -> Outcome:
    if listens:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGXCPU, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    limit = math.ceil(used + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + GRACE))
    try:
        return fit()
    except KeyboardInterrupt:
        return {"seconds": seconds, "status": "time_limit"}
    except Exception as error:
        return {"seconds": 0.0, "status": "failed", "error": f"{type(error).__name__}: {error}"[:300]}
