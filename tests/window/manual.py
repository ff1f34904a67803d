"""F1 in a window: with the mouse over the buttons of the sidebar it opens pages of the guide."""

import re
import webbrowser
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import unquote, urlsplit

from addon.ui.manual import MANUAL
from tests.window import identity, stage
from tests.window.stage import Steps


def sections_opened() -> Steps:
    """The panels of an armature with motions open the sections about motions, each a page that exists."""
    identity.import_humanoid()
    large = stage.area("INFO")
    large.type = "VIEW_3D"
    yield
    large.spaces.active.show_region_ui = True
    yield
    region: Any = next(region for region in large.regions if region.type == "UI")
    region.active_panel_category = "Motionbridge"
    yield
    opened: list[str] = []
    with patch.object(webbrowser, "open", opened.append):
        for y in range(region.y + region.height - 30, region.y, -12):
            yield from pressed(region.x + region.width // 2, y)
    ours = [address for address in opened if address.startswith(MANUAL.as_uri())]
    headings = {heading_of(address) for address in ours}
    assert "Motions" in headings, headings
    assert "Saving back" in headings, headings
    large.type = "INFO"
    yield


def pressed(x: int, y: int) -> Steps:
    """F1 with the mouse there."""
    for aside in (2, 0):
        stage.window().event_simulate(type="MOUSEMOVE", value="NOTHING", x=x + aside, y=y)
        yield
    for value in ("PRESS", "RELEASE"):
        stage.window().event_simulate(type="F1", value=value, x=x, y=y)
    yield


def heading_of(address: str) -> str:
    """The heading of the section at an address, or the title of the page."""
    parts = urlsplit(address)
    wanted = f'<h2 id="{parts.fragment}">(.*)</h2>' if parts.fragment else "<title>(.*) - Motionbridge</title>"
    match = re.search(wanted, Path(unquote(parts.path)).read_text("utf-8"))
    assert match is not None, address
    return match[1]


SCENES = [("F1 opens sections of the guide", sections_opened)]
