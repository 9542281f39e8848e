# SPDX-License-Identifier: Apache-2.0
"""Runs a program on a terminal of its own, of a given size."""

import fcntl
import os
import pty
import select
import struct
import termios
import time

SECONDS = 20


def run(command, rows=24, columns=80, keys=b"", environment=None):
    """Status, and what came out on the terminal. `keys` are typed when something came out."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.pop("COLUMNS", None)
        os.environ.update(environment or {})
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.execv(command[0], command)
    out = b""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        ready, _, _ = select.select([terminal], [], [], 0.3)
        if ready:
            try:
                got = os.read(terminal, 65536)
            except OSError:
                break
            if not got:
                break
            out += got
        elif out and keys:
            os.write(terminal, keys)
            keys = b""
    else:
        os.kill(child, 9)
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), out.decode(errors="replace").replace("\r\n", "\n")
