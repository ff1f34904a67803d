"""Blender's command line for a bpy wheel; run it with the Python of an environment that has one.

    launcher.py [FILE.blend] [--background] [--factory-startup] [--addons A,B] [--python-exit-code N]
                [--python FILE] [--python-expr CODE] [-o PATH] [-F FORMAT] [-E ENGINE] [-s N] [-e N] [-f N] [-a] [-- …]
    launcher.py --command extension build|validate|install-file|list|remove …
    launcher.py --command NAME …

The options are those of the real program and are executed in the given order, so one command line works with both.
Differences:

- always in the background, no window, `bpy.app.binary_path` is empty
- a wheel reads no preferences (the one of 4.2 crashes if asked to), so the extensions that `--command extension` has
  enabled are stored in a file beside the place of the preferences, and enabled again at the next start without
  `--factory-startup`
- it exits with `os._exit`: at a regular exit the 4.2 wheel crashes and the 4.5 wheel hangs while classes are registered
"""

import os
import runpy
import shutil
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy  # first: it makes the modules that come with Blender importable

# isort: split
import addon_utils

FLAGS = {
    "-b", "--background", "--factory-startup", "-noaudio", "--no-window-focus", "-y", "--enable-autoexec", "-Y",
    "--disable-autoexec", "--offline-mode", "--online-mode", "--debug-python", "-q", "--quiet",
    "--python-use-system-env",
}  # fmt: skip

_exit_code_of_scripts = 0
_commands: dict[str, Callable[[list[str]], int]] = {}


def main(arguments: list[str]) -> int:
    """Execute the options in order and return the exit status."""
    if arguments[:1] in (["-v"], ["--version"]):
        print("Blender", bpy.app.version_string)
        return 0
    sys.argv = ["blender", *arguments]
    _record_commands()
    from_the_start = set(bpy.context.preferences.addons.keys())
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if "--factory-startup" not in options:
        _enable_remembered()
    if command := next((option for option in options if option in ("-c", "--command")), None):
        return _command(arguments[arguments.index(command) + 1 :], from_the_start)
    return _execute(options)


def _record_commands() -> None:
    """Record commands of extensions as they are registered: Python has no access to where the wheel stores them."""
    register, unregister = bpy.utils.register_cli_command, bpy.utils.unregister_cli_command
    names: dict[int, str] = {}

    def noting(name: str, execute: Callable[[list[str]], int]) -> Any:
        handle = register(name, execute)
        _commands[name] = execute
        names[id(handle)] = name
        return handle

    def forgetting(handle: Any) -> None:
        _commands.pop(names.pop(id(handle), ""), None)
        unregister(handle)

    bpy.utils.register_cli_command, bpy.utils.unregister_cli_command = noting, forgetting


def _command(arguments: list[str], from_the_start: set[str]) -> int:
    name, rest = arguments[0] if arguments else "help", arguments[1:]
    if name == "extension":
        import bl_pkg  # noqa: PLC0415 - Blender's own extension system, exists after `import bpy`

        try:
            return int(bl_pkg.cli_extension(rest))
        finally:
            _remember(from_the_start)
    if name not in _commands:
        known = ", ".join(sorted({"extension", *_commands}))
        print(f"Unrecognized command: {name!r} (known: {known})", file=sys.stderr)
        return 1
    return _commands[name](rest)


def _list_of_enabled() -> Path:
    return Path(bpy.utils.user_resource("CONFIG")) / "enabled_extensions.txt"


def _enable_remembered() -> None:
    listing = _list_of_enabled()
    if listing.is_file():
        for name in listing.read_text(encoding="utf-8").split():
            addon_utils.enable(name, default_set=True)


def _remember(from_the_start: set[str]) -> None:
    listing = _list_of_enabled()
    enabled = sorted(set(bpy.context.preferences.addons.keys()) - from_the_start)
    if enabled or listing.exists():
        listing.parent.mkdir(parents=True, exist_ok=True)
        listing.write_text("\n".join(enabled), encoding="utf-8")


def _execute(options: list[str]) -> int:
    remaining = iter(options)
    for option in remaining:
        if option in FLAGS:
            continue
        if option in WITH_VALUE:
            value = next(remaining, None)
            if value is None:
                print(f"{option} needs a value", file=sys.stderr)
                return 1
            WITH_VALUE[option](value)
        elif option in ("-a", "--render-anim"):
            bpy.ops.render.render(animation=True)
        elif option.startswith("-"):
            print(f"unknown option {option}", file=sys.stderr)
            return 1
        else:
            bpy.ops.wm.open_mainfile(filepath=str(Path(option).absolute()), load_ui=False)
    return 0


def _set_exit_code(value: str) -> None:
    global _exit_code_of_scripts  # noqa: PLW0603 - an option applies to all that follow it, as in Blender
    _exit_code_of_scripts = int(value)


def _guarded(run: Callable[[], object]) -> None:
    """Print what a script raises and go on; exit if `--python-exit-code` was given before it. Blender does the same."""
    try:
        run()
    except Exception:  # noqa: BLE001 - whatever a script raises
        traceback.print_exc()
        if _exit_code_of_scripts:
            sys.exit(_exit_code_of_scripts)


def _run_file(path: str) -> None:
    _guarded(lambda: runpy.run_path(path, run_name="__main__"))


def _run_expression(code: str) -> None:
    _guarded(lambda: exec(compile(code, "<expression>", "exec"), {"__name__": "__main__"}))  # noqa: S102 - --python-expr


def _enable(names: str) -> None:
    for name in names.split(","):
        addon_utils.enable(name, default_set=True)


def _render_frame(frame: str) -> None:
    bpy.context.scene.frame_set(int(frame))
    bpy.ops.render.render(write_still=True)


def _on_scene(path: str, convert: Callable[[str], object] = str) -> Callable[[str], None]:
    *owners, name = path.split(".")

    def assign(value: str) -> None:
        owner = bpy.context.scene
        for part in owners:
            owner = getattr(owner, part)
        setattr(owner, name, convert(value))

    return assign


WITH_VALUE: dict[str, Callable[[str], object]] = {
    "--python-exit-code": _set_exit_code,
    "-P": _run_file,
    "--python": _run_file,
    "--python-expr": _run_expression,
    "--addons": _enable,
    "-o": _on_scene("render.filepath"),
    "--render-output": _on_scene("render.filepath"),
    "-F": _on_scene("render.image_settings.file_format"),
    "--render-format": _on_scene("render.image_settings.file_format"),
    "-E": _on_scene("render.engine"),
    "--engine": _on_scene("render.engine"),
    "-s": _on_scene("frame_start", int),
    "--frame-start": _on_scene("frame_start", int),
    "-e": _on_scene("frame_end", int),
    "--frame-end": _on_scene("frame_end", int),
    "-t": lambda _: None,
    "--threads": lambda _: None,
    "-f": _render_frame,
    "--render-frame": _render_frame,
}


def _leave(status: int) -> None:
    temporary = bpy.app.tempdir
    if temporary:
        shutil.rmtree(temporary, ignore_errors=True)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    exit_status = 1
    try:
        exit_status = main(sys.argv[1:])
    except SystemExit as left:
        exit_status = left.code if isinstance(left.code, int) else int(left.code is not None)
        if isinstance(left.code, str):
            print(left.code, file=sys.stderr)
    except Exception:  # noqa: BLE001 - print it before the process exits
        traceback.print_exc()
    _leave(exit_status)
