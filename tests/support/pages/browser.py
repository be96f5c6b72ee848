"""Headless Chromium over a pipe, in its own protocol: what a page shows, logs and asks for."""

import fcntl
import itertools
import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from tests.support.kafka.child import Child, read_some
from tests.support.kafka.waiting import Deadline, wait_until

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
PROGRAM = next((path for name in PROGRAMS if (path := shutil.which(name))), None)
HOW_TO_GET = "Chromium is not here: on Debian, apt-get install chromium"

TIMEOUT_S = 60.0
LOWEST_FILE = 64
FLAGS = (
    "--headless",
    "--no-sandbox",  # root, as containers run, has no sandbox of Chromium's
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--remote-debugging-pipe",
)

# The page looks by itself: asked again and again, it and we would burn the processor meanwhile.
READY = f"""new Promise((tell) => {{
    const end = Date.now() + {TIMEOUT_S * 1000 * 0.9};
    const look = () => {{
        const is_ready = document.readyState === 'complete'
            && document.documentElement.dataset.ready === 'yes';
        if (is_ready || Date.now() > end) {{ tell(is_ready); }} else {{ setTimeout(look, 20); }}
    }};
    look();
}})"""

PHONE = (390, 844)
SCREEN = (1280, 900)


@dataclass
class Shown:
    """A page as it was shown.

    Args:
        log: errors and warnings of the console, failures of scripts, blocked requests.
        requests: addresses that the page asked for, itself and inline data left out.
    """

    browser: "Browser"
    log: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        answer = self.browser.call(
            "Runtime.evaluate",
            {"expression": expression, "returnByValue": True, "awaitPromise": True},
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def accessible(self) -> list[tuple[str, str]]:
        """(role, name) of everything that a screen reader is given, in order."""
        nodes = self.browser.call("Accessibility.getFullAXTree", {})["nodes"]
        return [
            (node["role"]["value"], node.get("name", {}).get("value", ""))
            for node in nodes
            if not node.get("ignored")
        ]


def _high(number: int) -> int:
    """The open file under a number that no child expects anything at."""
    moved = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, LOWEST_FILE)
    os.close(number)
    return moved


class Browser:
    """One Chromium; a page at a time."""

    def __init__(self) -> None:
        assert PROGRAM is not None, HOW_TO_GET
        self._home = tempfile.TemporaryDirectory(prefix="kgroups-chromium-")
        to_child, self._out = os.pipe()
        self._in, from_child = os.pipe()
        # The browser reads its file 3 and writes its file 4: ours must not be among these.
        to_child, from_child = _high(to_child), _high(from_child)
        line = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'
        self._process = Child(
            [
                *("bash", "-c", line, "bash", str(to_child), str(from_child), PROGRAM, *FLAGS),
                f"--user-data-dir={self._home.name}",
                "about:blank",
            ],
            pass_fds=(to_child, from_child),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_child)
        os.close(from_child)
        self._pending = b""
        self._numbers = itertools.count(1)
        self._events: list[dict[str, Any]] = []
        self._session: str | None = None
        targets = self.call("Target.getTargets", {})["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        attach = {"targetId": page["targetId"], "flatten": True}
        self._session = self.call("Target.attachToTarget", attach)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.call(f"{domain}.enable", {})

    def show(self, path: Path, size: tuple[int, int] = SCREEN, *, dark: bool = False) -> Shown:
        """The page of a file, without any network, after its charts were drawn."""
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", {"features": [scheme]})
        offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
        self.call("Network.emulateNetworkConditions", offline)
        self._events.clear()
        address = path.resolve().as_uri()
        shown = Shown(self)
        self.call("Page.navigate", {"url": address})
        assert shown.evaluate(READY), f"the page is not ready: {self._events}"
        self._note(shown, address)
        return shown

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        """The page as a picture, for a person to look at; the whole, or what a screen shows."""
        import base64

        answer = self.call("Page.captureScreenshot", {"captureBeyondViewport": whole})
        path.write_bytes(base64.b64decode(answer["data"]))

    def printed(self, paper: tuple[float, float]) -> bytes:
        """The page as a PDF.

        Args:
            paper: width and height in inches.
        """
        import base64

        sizes = {"paperWidth": paper[0], "paperHeight": paper[1], "printBackground": True}
        return base64.b64decode(self.call("Page.printToPDF", sizes)["data"])

    def _note(self, shown: Shown, address: str) -> None:
        """What the events since the page was opened say."""
        for event in self._events:
            told = event["params"]
            match event["method"]:
                case "Runtime.consoleAPICalled" if told["type"] in ("error", "warning", "assert"):
                    shown.log.append(json.dumps(told["args"]))
                case "Runtime.exceptionThrown":
                    shown.log.append(json.dumps(told["exceptionDetails"]))
                case "Log.entryAdded" if told["entry"]["level"] in ("error", "warning"):
                    shown.log.append(told["entry"]["text"])
                case "Network.requestWillBeSent":
                    asked = told["request"]["url"]
                    if asked != address and not asked.startswith("data:"):
                        shown.requests.append(asked)

    def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The answer to one command; events that come meanwhile are kept."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        deadline = Deadline(TIMEOUT_S)
        while True:
            told = self._receive(method, deadline)
            if told.get("id") == number:
                assert "error" not in told, (method, told["error"])
                result: dict[str, Any] = told["result"]
                return result
            if "method" in told:
                self._events.append(told)

    def _receive(self, method: str, deadline: Deadline) -> dict[str, Any]:
        """The next message, while a method's answer is waited for."""
        while b"\0" not in self._pending:
            read = read_some(self._in, deadline, f"an answer of Chromium to {method}")
            assert read, "Chromium ended"
            self._pending += read
        text, self._pending = self._pending.split(b"\0", 1)
        told: dict[str, Any] = json.loads(text)
        return told

    def close(self) -> None:
        """End the browser."""
        os.close(self._out)
        self._process.end()
        os.close(self._in)
        # Its processes end one after another, and write into the profile until then.
        home = Path(self._home.name)
        wait_until(lambda: _is_removed(home), "Chromium lets go of its profile")
        self._home.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _is_removed(folder: Path) -> bool:
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()
