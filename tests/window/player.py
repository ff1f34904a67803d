"""Plays scenes one after the other between two redraws of Blender's window, and writes what came of them.

A scene is a generator function. Whenever it yields, Blender handles events and draws. It fails with whatever it
raises, and with every traceback that is printed meanwhile: Blender only prints those of operators and panels.
"""

import os
import re
import subprocess
import sys
import time
import traceback
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import bpy

from tests.window import stage

Scene = Callable[[], Iterator[None]]
TICK = 0.01  # seconds that Blender has for itself between two steps of a scene
LIMIT = 60.0  # seconds for one scene
PRINTED_TRACEBACK = "Traceback (most recent call last)"


class Player:
    """The state between two ticks of Blender's timer."""

    def __init__(self, scenes: Sequence[tuple[str, Scene]], results: Path) -> None:
        """``scenes``: name and function of each."""
        self._waiting = list(scenes)
        self._results = results
        self._suite = ET.Element("testsuite", name="window")
        self._name = ""
        self._running: Iterator[None] | None = None
        self._began = self._all_began = time.monotonic()
        self._failed = 0
        self._console = os.dup(1)
        self._log = (results.parent / "printed.txt").open("w+b")
        self._seen = 0
        for printed in (1, 2):
            os.dup2(self._log.fileno(), printed)

    def tick(self) -> float:
        """Called by Blender's timer; the seconds until it calls again."""
        try:
            if self._running is None:
                self._begin()
            else:
                assert time.monotonic() - self._began < LIMIT, f"the scene is not over after {LIMIT:.0f} s"
                next(self._running)
                assert PRINTED_TRACEBACK not in self._printed(), "a traceback was printed"
        except StopIteration:
            self._end("")
        except Exception:  # noqa: BLE001 - whatever it is, it fails this scene and no other
            self._end(traceback.format_exc())
        return TICK

    def _begin(self) -> None:
        if not self._waiting:
            self._leave()
        self._name, scene = self._waiting.pop(0)
        self._log.seek(0, os.SEEK_END)
        self._seen = self._log.tell()
        self._began = time.monotonic()
        self._running = stage.set_up(scene)

    def _printed(self) -> str:
        sys.stdout.flush()
        sys.stderr.flush()
        return os.pread(self._log.fileno(), 1 << 20, self._seen).decode("utf-8", "replace")

    def _end(self, failure: str) -> None:
        seconds = time.monotonic() - self._began
        case = ET.SubElement(self._suite, "testcase", classname="window", name=self._name, time=f"{seconds:.2f}")
        self._say(f"{'FAILED' if failure else 'passed'} {self._name} ({seconds:.1f} s)")
        self._running = None
        if failure:
            self._failed += 1
            picture = self._results.with_name(f"{re.sub('[^a-zA-Z0-9_]+', '_', self._name)}.png")
            # Blender's own screenshots are black on a virtual screen.
            subprocess.run(["import", "-window", "root", os.fspath(picture)], check=False)
            reported = "\n".join(stage.reports())
            calls = f"{failure}\nprinted:\n{self._printed()}\nreported:\n{reported}\non the screen: {picture.name}"
            ET.SubElement(case, "failure", message=failure.strip().splitlines()[-1]).text = calls
            self._say(calls)
        stage.clear_away()

    def _say(self, text: str) -> None:
        os.write(self._console, f"{text}\n".encode())

    def _leave(self) -> None:
        self._suite.set("tests", str(len(self._suite)))
        self._suite.set("failures", str(self._failed))
        self._suite.set("errors", "0")
        self._suite.set("skipped", "0")
        ET.ElementTree(self._suite).write(self._results)
        self._say(f"{len(self._suite)} scenes, {self._failed} failed, {time.monotonic() - self._all_began:.0f} s")
        os._exit(int(bool(self._failed) or not len(self._suite)))


def play(scenes: Sequence[tuple[str, Scene]], results: Path, words: Sequence[str]) -> None:
    """Play those with one of ``words`` in their names, all without words, as soon as Blender's window is there."""
    chosen = [(name, scene) for name, scene in scenes if not words or any(word in name for word in words)]
    stage.prepare()
    player = Player(chosen, results)
    bpy.app.timers.register(player.tick, first_interval=0.5, persistent=True)
