"""A real Chromium without a window, and what it says of a page: its console, its requests, how it looks."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.remote.webelement import WebElement

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
MISSING = "no Chromium with its driver on the PATH; Debian: apt install chromium chromium-driver"


@dataclass
class Browser:
    driver: webdriver.Chrome

    def open(self, page: Path, *, width: int = 1440, height: int = 1000, scheme: str = "light") -> None:
        """Open a file anew, as who prefers the colour scheme sees it."""
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.cdp(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.driver.get("about:blank")
        self._drain()
        self.driver.get(page.as_uri())

    def cdp(self, command: str, **arguments: Any) -> Any:
        return self.driver.execute_cdp_cmd(command, arguments)

    def js(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def press(self, *keys: str) -> None:
        """Press keys wherever the focus is."""
        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements("css selector", selector)

    def one(self, selector: str) -> WebElement:
        return self.driver.find_element("css selector", selector)

    @property
    def focused(self) -> str:
        """Text of what has the focus."""
        text: str = self.driver.switch_to.active_element.text
        return text

    @property
    def complaints(self) -> list[str]:
        """What the browser's console says, policy violations and script errors."""
        return [entry["message"] for entry in self.driver.get_log("browser")]  # type: ignore[no-untyped-call]

    @property
    def requests(self) -> list[str]:
        """Addresses that were asked for since the page was opened."""
        log = [json.loads(entry["message"])["message"] for entry in self._drain()]
        asked = [each["params"]["request"]["url"] for each in log if each["method"] == "Network.requestWillBeSent"]
        return [url for url in asked if url != "about:blank"]

    @property
    def work(self) -> float:
        """For how many seconds the page's process has worked so far, whatever else this machine had to do meanwhile."""
        self.cdp("Performance.enable")
        found = {each["name"]: each["value"] for each in self.cdp("Performance.getMetrics")["metrics"]}
        return float(found["ProcessTime"])

    def pdf(self) -> bytes:
        printed = self.cdp("Page.printToPDF", printBackground=True)
        return base64.b64decode(printed["data"])

    def png(self) -> bytes:
        """The part of the page that is in sight."""
        return base64.b64decode(self.cdp("Page.captureScreenshot", format="png")["data"])

    def _drain(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.driver.get_log("performance")  # type: ignore[no-untyped-call]
        return found


def available() -> bool:
    return bool(CHROMIUM and DRIVER)


@contextmanager
def browser() -> Iterator[Browser]:
    """Skip the test where there is none."""
    if not available():
        pytest.skip(MISSING)
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    try:
        yield Browser(driver)
    finally:
        driver.quit()
