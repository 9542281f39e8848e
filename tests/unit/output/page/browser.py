# SPDX-License-Identifier: Apache-2.0
"""A real headless Chromium, driven through its debugging pipe: pages as they are, real keys and
mouse, and everything that the browser complains of. Needs nothing but Chromium."""

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
SECONDS = 60

HELP = """
var $ = (id) => document.getElementById(id);
/* What is to be drawn is drawn in the next frame of the screen, and may ask for one more. */
var frame = () => new Promise((done) => requestAnimationFrame(done));
var settled = async () => {
    for (let i = 0; i < 4; i++)
        await frame();
};
var pixels = (id) => $(id).toDataURL();
var press = (id, key, more) =>
    $(id).dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, ...more }));
var type = (text) => {
    $("search").value = text;
    $("search").dispatchEvent(new Event("input"));
};
var rows = () => [...document.querySelectorAll("#list .r.row")].map((row) =>
    [...row.children].map((cell) => cell.textContent));
"""


def find():
    """The browser's path; None where there is none."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


class Browser:
    """One browser with one page at a time. `complaints`: of the page that is shown."""

    def __init__(self, path):
        self.numbers = itertools.count(1)
        self.rest = b""
        self.complaints = []
        self.requests = []
        self.folder = tempfile.TemporaryDirectory(prefix="yarn_browser.", ignore_cleanup_errors=True)
        to_read, self.to = os.pipe()
        self.come, to_write = os.pipe()
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", f'exec "$0" "$@" 3<&{to_read} 4>&{to_write}', path]
            + ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
            + ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
            + ["--disable-dev-shm-usage", "--window-size=1400,900", "--remote-debugging-pipe"]
            + [f"--user-data-dir={self.folder.name}/profile", "about:blank"],
            pass_fds=(to_read, to_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        self.session = None
        target = self.ask("Target.createTarget", url="about:blank")
        attached = self.ask("Target.attachToTarget", flatten=True, **target)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=1400, height=900,
                 deviceScaleFactor=1, mobile=False)  # fmt: skip

    def close(self):
        self.process.terminate()
        self.process.wait()
        os.close(self.to)
        os.close(self.come)
        self.folder.cleanup()

    def message(self, until):
        while b"\0" not in self.rest:
            if not select.select([self.come], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            got = os.read(self.come, 1 << 16)
            if not got:
                raise EOFError("the browser has gone")
            self.rest += got
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def take(self, message):
        parameters = message.get("params", {})
        match message.get("method"):
            case "Runtime.exceptionThrown":
                details = parameters["exceptionDetails"]
                self.complaints.append(details.get("exception", details).get("description", details))
            case "Runtime.consoleAPICalled":
                self.complaints.append(parameters["args"])
            case "Log.entryAdded":
                self.complaints.append(parameters["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])

    def ask(self, method, **parameters):
        number = next(self.numbers)
        question = {"id": number, "method": method, "params": parameters}
        if self.session:
            question["sessionId"] = self.session
        os.write(self.to, json.dumps(question).encode() + b"\0")
        until = time.monotonic() + SECONDS
        while True:
            message = self.message(until)
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.take(message)

    def show(self, path, is_dark=False):
        """Opens the file and waits until it stands still."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.ask("Page.navigate", url="about:blank")
        self.evaluate("0")
        self.complaints.clear()
        self.requests.clear()
        self.ask("Page.navigate", url=path.as_uri())
        self.evaluate("await new Promise((done) => document.readyState === 'complete' ? done()"
                      " : addEventListener('load', done));")
        self.evaluate(HELP.replace("var ", "window.") + "await settled();")

    def evaluate(self, script):
        """What the body of an async function returns."""
        done = self.ask("Runtime.evaluate", expression=f"(async () => {{ {script} }})()",
                        awaitPromise=True, returnByValue=True)  # fmt: skip
        if "exceptionDetails" in done:
            raise RuntimeError(done["exceptionDetails"]["exception"].get("description"))
        return done["result"].get("value")

    def mouse(self, kind, x, y):
        self.ask("Input.dispatchMouseEvent", type=f"mouse{kind}", x=x, y=y, clickCount=1,
                 button="none" if kind == "Moved" else "left", buttons=0 if kind == "Released" else 1)  # fmt: skip

    def key(self, key):
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        codes = {"Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37,
                 "ArrowRight": 39, "Tab": 9, "Backspace": 8}  # fmt: skip
        code = {"windowsVirtualKeyCode": codes[key]} if key in codes else {}
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, **code, **text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, **code)

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot")["data"]))
