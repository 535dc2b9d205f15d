"""One JSON request a line on stdin, one JSON answer a line on stdout. What libraries print goes to stderr."""

import json
import os
import queue
import sys
import threading
import time


def serve(handlers):
    """
    `handlers`: op -> function of the request. Ends when stdin does, even in the middle of a
    request: whoever asked is gone then.
    """
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def send(answer):
        out.write(json.dumps(answer, ensure_ascii=False, allow_nan=False) + "\n")
        out.flush()

    send({"ready": True})
    lines = queue.Queue()
    threading.Thread(target=read, args=(lines,), daemon=True).start()
    while True:
        request = json.loads(lines.get())
        start = time.monotonic()
        try:
            answer = {"ok": True, "result": handlers[request["op"]](request)}
        except Exception as error:  # every failure is an answer
            answer = {"ok": False, "chain": chain_of(error)}
        answer["id"] = request["id"]
        answer["ms"] = round((time.monotonic() - start) * 1000)
        send(answer)


def read(lines):
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)


def chain_of(error):
    chain = []
    while error is not None and len(chain) < 20:
        chain.append(f"{type(error).__name__}: {error}")
        error = error.__cause__ or error.__context__
    return chain
