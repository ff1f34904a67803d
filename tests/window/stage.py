"""What scenes are played with: Blender's window, its file browser, dialogs, keys, and what it reported."""

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bpy

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
MADE = {"motions.skls": "export_scene.xray_skl", "humanoid.bones": "export_scene.xray_bones"}
"""Files that no sample is committed for, and what makes them of the humanoid."""
Steps = Iterator[None]
PATIENCE = 20.0  # seconds until something that was waited for counts as missing
_folder = Path()


# The window ---------------------------------------------------------------------------------------------------------


def prepare() -> None:
    """Settings under which nothing moves by itself, opens a second window or asks at the end."""
    preferences = bpy.context.preferences
    preferences.use_preferences_save = False
    preferences.view.show_splash = False
    preferences.view.filebrowser_display_type = "SCREEN"  # in the only window
    preferences.view.smooth_view = 0
    preferences.system.viewport_aa = "OFF"
    preferences.filepaths.use_auto_save_temporary_files = False


def blank() -> Path:
    """The empty file that each scene begins in."""
    return Path(bpy.app.tempdir) / "blank.blend"


def is_enabled() -> bool:
    """Whether this Blender has the extension yet: one scene installs it."""
    return hasattr(bpy.types.WindowManager, "motionbridge_report")


def make_blank() -> Steps:
    """An empty file in Blender's factory layout, with a small viewport, and an editor where reports can be read."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    yield
    largest, other, properties = area(), area("OUTLINER"), area("PROPERTIES")
    largest.type = "INFO"
    yield
    # Without a graphics card most of the time goes into drawing the viewport.
    other.type = "VIEW_3D"
    yield
    properties.type = "IMAGE_EDITOR"  # which takes drops that the viewport does not
    yield
    space = area().spaces.active
    space.shading.type = "WIREFRAME"
    space.overlay.show_overlays = space.show_gizmo = space.show_region_toolbar = False
    yield
    if is_enabled():
        call("import_scene.xray_ogf", filepath=str(SAMPLES / "humanoid.ogf"))
        call("import_scene.xray_omf", filepath=str(SAMPLES / "humanoid.omf"))
        for name, exporter in MADE.items():
            call(exporter, filepath=str(blank().with_name(name)))
    bpy.data.batch_remove([*bpy.data.objects, *bpy.data.actions, *bpy.data.meshes, *bpy.data.armatures])
    bpy.data.orphans_purge(do_recursive=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(blank()), copy=True)


def set_up(scene: Callable[[], Steps]) -> Steps:
    """The scene, in an empty file, with a folder of its own."""
    global _folder  # noqa: PLW0603 - one window, one scene, one folder
    _folder = Path(tempfile.mkdtemp(prefix="scene-"))
    if not blank().exists() or len(areas("VIEW_3D")) != 1 or not areas("INFO"):
        yield from make_blank()
    bpy.ops.wm.open_mainfile(filepath=str(blank()), load_ui=False)
    yield
    forget_reports()
    step("Begin")
    yield from scene()


def clear_away() -> None:
    """Nothing of a scene stays: dialogs are left, the browser is closed, its folder is removed."""
    shutil.rmtree(_folder, ignore_errors=True)
    for _ in range(3):
        press("ESC")


def window() -> Any:
    """The only one."""
    return bpy.context.window_manager.windows[0]


def areas(kind: str) -> list[Any]:
    """The areas of a kind, largest first."""
    result = [own_area for own_area in window().screen.areas if own_area.type == kind]
    return sorted(result, key=lambda entry: -entry.width * entry.height)


def area(kind: str = "VIEW_3D") -> Any:
    """The largest of a kind."""
    return areas(kind)[0]


def there(kind: str = "VIEW_3D") -> Any:
    """A context in which operators find an area of a kind."""
    result = area(kind)
    region = next(region for region in result.regions if region.type == "WINDOW")
    return bpy.context.temp_override(window=window(), area=result, region=region)


# Waiting, keys ------------------------------------------------------------------------------------------------------


def until(condition: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Steps:
    """Let Blender go on until something is so."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds:.0f} s for this: {what}"
        yield


def press(name: str, **modifiers: bool) -> None:
    """Press a key where the mouse is."""
    result = area() if areas("VIEW_3D") else window()
    x, y = (result.x + result.width // 2, result.y + result.height // 2) if result != window() else (400, 300)
    for value in ("PRESS", "RELEASE"):
        window().event_simulate(type=name, value=value, x=x, y=y, **modifiers)


def key(name: str, **modifiers: bool) -> Steps:
    """Press a key with the mouse over the viewport."""
    result = area()
    # Keymaps belong to what is below the mouse. Twice: areas that have just come or gone miss the first move.
    for aside in (4, 0):
        x, y = result.x + result.width // 2 + aside, result.y + result.height // 2
        window().event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
        yield
        yield
    press(name, **modifiers)
    yield
    yield


def undo() -> Steps:
    """Control Z."""
    yield from key("Z", ctrl=True)


def redo() -> Steps:
    """Control Shift Z."""
    yield from key("Z", ctrl=True, shift=True)


# Reports ------------------------------------------------------------------------------------------------------------


def forget_reports() -> None:
    """From here on, `reports` tells what is new."""
    with there("INFO"):
        bpy.ops.info.select_all(action="SELECT")
        bpy.ops.info.report_delete()
    if is_enabled():
        bpy.context.window_manager.motionbridge_report = ""


def reports() -> list[str]:
    """What Blender has reported since then, without its record of called operators."""
    if not areas("INFO"):
        return ["(no Info editor is open)"]
    manager = bpy.context.window_manager
    manager.clipboard = ""
    with there("INFO"):
        bpy.ops.info.select_all(action="SELECT")
        bpy.ops.info.report_copy()
    lines = manager.clipboard.splitlines()
    return [line for line in lines if line and not line.startswith("bpy.")]


def sentence() -> str:
    """The first line of the extension's last report."""
    return str(bpy.context.window_manager.motionbridge_report).partition("\n")[0]


def reported() -> Steps:
    """Wait for the extension's report. Warnings after the file browser come in a pop-up, which is left."""
    yield from until(sentence, "a report")
    yield
    yield from key("ESC")


# Dialogs ------------------------------------------------------------------------------------------------------------


def folder() -> Path:
    """The scene's own."""
    return _folder


def sample(name: str, renamed: str = "") -> Path:
    """A copy of a sample in the scene's folder."""
    copy = folder() / (renamed or Path(name).name)
    source = blank().with_name(name) if name in MADE else SAMPLES / name
    if source.is_dir():
        shutil.copytree(source, copy)
    else:
        shutil.copy(source, copy)
    return copy


def operator(name: str) -> Any:
    """What `bpy.ops` calls so."""
    module, _, function = name.partition(".")
    return getattr(getattr(bpy.ops, module), function)


def call(name: str, **options: Any) -> Any:
    """Call an operator as a script does, over the viewport."""
    with there():
        return operator(name)(**options)


def invoke(name: str, **options: Any) -> Any:
    """Call an operator as its menu entry does."""
    with there():
        return operator(name)("INVOKE_DEFAULT", **options)


def browse(name: str, **options: Any) -> Steps:
    """Open an operator's file browser."""
    invoke(name, **options)
    yield from until(lambda: areas("FILE_BROWSER") and area("FILE_BROWSER").spaces.active.params, "the file browser")
    yield


def accept(path: Path) -> Steps:
    """Choose a file or folder in the open browser: the button at its bottom right."""
    params = area("FILE_BROWSER").spaces.active.params
    params.directory = os.fsencode(path if path.is_dir() else path.parent)
    if not path.is_dir():
        params.filename = path.name
    yield from _press_button(60)


def dismiss() -> Steps:
    """Cancel the open browser."""
    with there("FILE_BROWSER"):
        bpy.ops.file.cancel()
    yield from until(lambda: not areas("FILE_BROWSER"), "the file browser to close")
    yield


def _press_button(from_right: int) -> Steps:
    def bar() -> Any:
        return next(
            (region for region in area("FILE_BROWSER").regions if region.type == "EXECUTE" and region.height > 20), None
        )

    yield from until(bar, "the button of the file browser")
    yield  # it is drawn
    x, y = bar().x + bar().width - from_right, bar().y + 20
    window().event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
    yield
    yield
    for value in ("PRESS", "RELEASE"):
        window().event_simulate(type="LEFTMOUSE", value=value, x=x, y=y)
        yield
    yield from until(lambda: not areas("FILE_BROWSER"), "the file browser to close")
    yield


def choose(name: str, path: Path, **options: Any) -> Steps:
    """An operator by its menu entry, and a file in its browser."""
    yield from browse(name, **options)
    yield from accept(path)


def drop(*paths: Path, kind: str = "VIEW_3D") -> Steps:
    """What a drop of files from the system's file manager calls. A refusal is reported, as Blender does it."""
    names = [{"name": path.name} for path in paths]
    with there(kind), contextlib.suppress(RuntimeError):
        bpy.ops.wm.drop_import_file("INVOKE_DEFAULT", directory=str(paths[0].parent), files=names)
    yield
    yield


def confirm() -> Steps:
    """Return in a dialog, with the mouse in the window's corner: over a text field Return would begin to edit it."""
    for aside in (4, 1):
        window().event_simulate(type="MOUSEMOVE", value="NOTHING", x=aside, y=aside)
        yield
        yield
    press("RET")
    yield
    yield


class Hand:
    """Counts what a person clicks: buttons, rows, menu entries, the viewport, fields (which are then typed into)."""

    def __init__(self, most: int) -> None:
        """``most``: clicks that the whole may take."""
        self._most = most
        self.clicks: list[str] = []

    def click(self, *what: str) -> None:
        """Count one click for each of ``what``."""
        self.clicks += what

    def rests(self) -> None:
        """Compare the number of clicks with the most."""
        assert len(self.clicks) <= self._most, self.clicks


def step(message: str) -> None:
    """An undo step, as an operator that a person calls makes one."""
    with there():
        bpy.ops.ed.undo_push(message=message)


def data() -> dict[str, list[str]]:
    """Names of what is in the file, by kind."""
    kinds = ("objects", "meshes", "armatures", "actions", "materials", "images", "collections", "texts", "curves")
    return {kind: sorted(entry.name for entry in getattr(bpy.data, kind)) for kind in kinds}
