"""Runs a program at a terminal of its own, and types.

    terminal.py PROGRAM ARGUMENT...

Standard input holds a JSON list of steps: ["see", TEXT] waits until the terminal shows a text behind
what was seen before, ["type", TEXT] types, ["signal", NUMBER] sends a signal, ["size", COLUMNS] changes
the width. Standard output gets an object: `shown`, all that was shown; `code`, the exit code, or the
number of the signal below 0; `echo`, whether the terminal echoes after all as it did before.
"""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

LIMIT = 60


def main():
    steps = json.load(sys.stdin)
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(sys.argv[1], sys.argv[1:])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    before = termios.tcgetattr(terminal)[3] & (termios.ECHO | termios.ICANON)
    shown, seen, wrong = b"", 0, None

    def read(seconds):
        nonlocal shown
        ready, _, _ = select.select([terminal], [], [], seconds)
        if not ready:
            return True
        try:
            part = os.read(terminal, 65536)
        except OSError:
            return False
        shown += part
        return bool(part)

    for kind, what in steps:
        if kind == "type":
            os.write(terminal, what.encode())
        elif kind == "signal":
            os.kill(pid, what)
        elif kind == "size":
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, what, 0, 0))
        else:
            start = time.monotonic()
            while (at := shown.find(what.encode(), seen)) < 0:
                if time.monotonic() - start > LIMIT or not read(0.2):
                    wrong = f"{what!r} was not shown"
                    break
            if wrong:
                break
            seen = at + len(what.encode())
    start, status = time.monotonic(), None
    # What is still shown has to be read, or the program waits for that.
    while status is None:
        read(0.1)
        ended, code = os.waitpid(pid, os.WNOHANG)
        if ended:
            status = os.waitstatus_to_exitcode(code)
        elif wrong or time.monotonic() - start > LIMIT:
            os.kill(pid, signal.SIGKILL)
            wrong = wrong or "it did not end"
    while read(0.1) and select.select([terminal], [], [], 0)[0]:
        pass
    try:
        after = termios.tcgetattr(terminal)[3] & (termios.ECHO | termios.ICANON)
    except termios.error:
        after = None
    text = shown.decode(errors="replace")
    json.dump({"shown": text, "code": status, "echo": after == before, "wrong": wrong}, sys.stdout)


main()
