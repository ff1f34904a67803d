"""The mouse over the sidebar, its menus and dialogs: buttons are found where Blender draws them, and clicked.

Ctrl C over a button puts the call of its operator into the clipboard, over a field its value.
"""

from collections.abc import Callable, Generator, Iterable
from typing import Any

import bpy

from tests.window import stage
from tests.window.stage import Steps

ROW = 15
"""Pixels between two places that are looked at; a button is 20 high."""
KEYS = {**{str(digit): name for digit, name in enumerate(
    ("ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE")
)}, ".": "PERIOD", "_": "MINUS"}  # fmt: skip
"""Letter -> key, where the key is not called after its letter."""
Spot = tuple[int, int]


def in_the_sidebar(scene: Callable[[], Steps]) -> Callable[[], Steps]:
    """Return the scene with the largest area as a viewport, and its sidebar at the tab of the extension."""

    def play() -> Steps:
        large = stage.area("INFO")
        large.type = "VIEW_3D"
        try:
            yield
            space = large.spaces.active
            space.shading.type = "WIREFRAME"
            space.overlay.show_overlays = space.show_gizmo = space.show_region_toolbar = False
            space.show_region_ui = True
            yield
            sidebar().active_panel_category = "Motionbridge"
            yield
            yield
            yield from scene()
        finally:
            large.type = "INFO"
        yield

    return play


def sidebar() -> Any:
    """The sidebar's region in the largest viewport."""
    return next(region for region in stage.area().regions if region.type == "UI")


def move(x: int, y: int) -> Steps:
    """Move the mouse, in two steps: areas that have just come or gone miss the first one."""
    for aside in (2, 0):
        stage.window().event_simulate(type="MOUSEMOVE", value="NOTHING", x=x + aside, y=y)
        yield


def click(x: int, y: int, **modifiers: bool) -> Steps:
    """Click there."""
    yield from move(x, y)
    for value in ("PRESS", "RELEASE"):
        stage.window().event_simulate(type="LEFTMOUSE", value=value, x=x, y=y, **modifiers)
        yield
    yield


def drag(start: Spot, end: Spot) -> Steps:
    """Press the left button at one place, and release it at another."""
    yield from move(*start)
    stage.window().event_simulate(type="LEFTMOUSE", value="PRESS", x=start[0], y=start[1])
    yield
    for share in (0.1, 0.5, 1):
        x, y = (int(first + share * (last - first)) for first, last in zip(start, end, strict=True))
        stage.window().event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
        yield
    stage.window().event_simulate(type="LEFTMOUSE", value="RELEASE", x=end[0], y=end[1])
    yield
    yield


def key(name: str, x: int, y: int, **modifiers: bool) -> Steps:
    """Press a key with the mouse there."""
    yield from move(x, y)
    for value in ("PRESS", "RELEASE"):
        stage.window().event_simulate(type=name, value=value, x=x, y=y, **modifiers)
    yield
    yield


def typed(text: str, spot: Spot) -> Steps:
    """Type into the field that is being edited, or the numbers of a transform."""
    for letter in text:
        name = KEYS.get(letter, letter.upper())
        for value in ("PRESS", "RELEASE"):
            unicode = {"unicode": letter} if value == "PRESS" else {}
            stage.window().event_simulate(type=name, value=value, x=spot[0], y=spot[1], **unicode)
        yield
    yield


def copied_at(x: int, y: int) -> Generator[None, None, str]:
    """Return what Ctrl C copies there."""
    manager = bpy.context.window_manager
    manager.clipboard = ""
    stage.window().event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
    yield
    for value in ("PRESS", "RELEASE"):
        stage.window().event_simulate(type="C", value=value, x=x, y=y, ctrl=True)
    yield
    return str(manager.clipboard)


def spot_of(is_wanted: Callable[[str], bool], x: int, heights: Iterable[int]) -> Generator[None, None, Spot | None]:
    """Return the first place in a column of the window at which what Ctrl C copies is wanted, None without any."""
    for y in heights:
        if is_wanted((yield from copied_at(x, y))):
            return x, y
    return None


def calls(text: str) -> Callable[[str], bool]:
    """Return whether what was copied is a call with ``text``."""
    return lambda copied: copied.startswith("bpy.ops") and text in copied


def button(call: str, across: float = 0.5) -> Generator[None, None, Spot]:
    """Return where the sidebar has the button with a call, at a share of its width; the sidebar is scrolled for it."""
    region = sidebar()
    x, bottom, top = int(region.x + region.width * across), region.y, region.y + region.height
    spot = yield from spot_of(calls(call), x, range(top - ROW, bottom, -ROW))
    if spot is None:
        yield from move(x, (bottom + top) // 2)
        for _ in range(30):
            stage.window().event_simulate(type="WHEELDOWNMOUSE", value="PRESS", x=x, y=(bottom + top) // 2)
        yield
        yield
        spot = yield from spot_of(calls(call), x, range(bottom + ROW, top, ROW))
    assert spot is not None, f"the sidebar has no button {call}"
    return spot


def opened(is_wanted: Callable[[str], bool], at: Spot) -> Generator[None, None, Spot]:
    """Return where the open menu or dialog has what is wanted, below the place of the click or above it."""
    x, y = at
    area = stage.area()
    spot = yield from spot_of(is_wanted, x, [*range(y, area.y, -ROW), *range(y, area.y + area.height, ROW)])
    assert spot is not None, "the open menu or dialog does not have it"
    return spot
