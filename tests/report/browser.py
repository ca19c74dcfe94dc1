"""Headless Chromium, driven by its DevTools protocol over two pipes: no driver, no port, no package needed."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions"),
    *("--disable-sync", "--disable-background-networking", "--disable-component-update"),
    *("--disable-default-apps", "--hide-scrollbars", "--disable-dev-shm-usage", "--remote-debugging-pipe"),
)
WAIT = 60.0


def chromium() -> str | None:
    """Path of a Chromium, or None."""
    named = os.environ.get("VOIRDIRE_CHROMIUM")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One browser with one page. ``errors`` and ``requests`` collect what the page said and asked for."""

    def __init__(self, profile: Path) -> None:
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        path = chromium()
        assert path is not None
        command = [path, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        # the protocol is on the descriptors 3 (to the browser) and 4 (from it)
        shell = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self.process = subprocess.Popen(
            ["bash", "-c", shell, "browser", *command],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.incoming, self.outgoing = ours_in, ours_out
        self.buffer = b""
        self.last = 0
        self.session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)
        # a page has the focus also after a test whose last Tab left the page before it
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)

    def close(self) -> None:
        os.close(self.outgoing)  # it ends when its pipe does
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.incoming)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        self.last += 1
        message: dict[str, Any] = {"id": self.last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.outgoing, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive(time.monotonic() + WAIT)
            if answer.get("id") == self.last:
                assert "error" not in answer, answer
                return dict(answer["result"])
            self.events.append(answer)

    def _receive(self, until: float) -> dict[str, Any]:
        while b"\0" not in self.buffer:
            if not select.select([self.incoming], [], [], max(0.0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.incoming, 1 << 20)
            if not part:
                raise ConnectionError("the browser has ended")
            self.buffer += part
        message, _, self.buffer = self.buffer.partition(b"\0")
        return dict(json.loads(message))

    def open(
        self, path: Path | str, *, width: int = 1280, height: int = 900, dark: bool = False, script: bool = True
    ) -> None:
        """Open a file, or an address, at a width, in light or dark mode, with or without scripts."""
        self.events.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        opened = self.call("Page.navigate", url=path if isinstance(path, str) else path.as_uri())
        until = time.monotonic() + WAIT
        while not any(self._loaded(event, opened) for event in self.events):
            self.events.append(self._receive(until))

    @staticmethod
    def _loaded(event: dict[str, Any], opened: dict[str, Any]) -> bool:
        """Whether an event says that a page is loaded: that page, not the one that was there before."""
        told = event.get("params", {})
        if "loaderId" not in opened:  # the same document, at another place of it
            return True
        return (
            event.get("method") == "Page.lifecycleEvent"
            and told["name"] == "load"
            and told["loaderId"] == opened["loaderId"]
        )

    def run(self, code: str) -> Any:
        """Value of an expression (or of what its promise gives)."""
        found = self.call("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    @property
    def errors(self) -> list[str]:
        """Console errors and warnings, exceptions, and entries of the browser's log."""
        found = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(json.dumps(params["exceptionDetails"]))
            elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
                found.append(json.dumps(params["args"]))
            elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(json.dumps(params["entry"]))
        return found

    @property
    def requests(self) -> list[str]:
        """Addresses asked for."""
        sent = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [str(event["params"]["request"]["url"]) for event in sent]

    def screenshot(self, path: Path, *, whole: bool = False, height: int | None = None) -> Path:
        """Write a PNG of the view, or of the whole page (or its upper part)."""
        options: dict[str, Any] = {}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"x": 0, "y": 0, "width": size["width"], "height": min(height or 15000, size["height"])}
            options = {"captureBeyondViewport": True, "clip": clip | {"scale": 1}}
        data = self.call("Page.captureScreenshot", format="png", **options)["data"]
        path.write_bytes(base64.b64decode(data))
        return path

    def pdf(self) -> bytes:
        """The page as it prints on A4."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"])
