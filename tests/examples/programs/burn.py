# SPDX-License-Identifier: Apache-2.0
"""Two threads that burn CPU and one that sleeps now and then."""
import hashlib
import threading
import time

BLOCK = bytes(1 << 20)


def burn():
    end = time.monotonic() + 1
    while time.monotonic() < end:
        hashlib.sha256(BLOCK)  # without the lock of the interpreter


def sleeper():
    for _ in range(200):
        time.sleep(0.005)


threads = [threading.Thread(target=work, name=name) for work, name in ((burn, "burn1"), (burn, "burn2"),
                                                                       (sleeper, "sleeper"))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
