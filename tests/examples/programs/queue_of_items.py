# SPDX-License-Identifier: Apache-2.0
"""Two threads and main hand on the items of a queue; main waits now and then."""
import queue
import threading
import time

first, second = queue.Queue(), queue.Queue()


def pass_on():
    while (item := first.get()) is not None:
        second.put(item)


def take():
    while second.get() is not None:
        pass


threads = [threading.Thread(target=pass_on), threading.Thread(target=take)]
for thread in threads:
    thread.start()
for i in range(100):
    first.put(i)
    time.sleep(0.01)
first.put(None)
threads[0].join()
second.put(None)
threads[1].join()
