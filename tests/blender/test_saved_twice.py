"""What is saved twice is what is saved once: the bytes depend on the scene, not on how often it was saved. What was not
edited leaves byte for byte.
"""

from pathlib import Path

import bpy
import pytest

from tests.blender.saved_formats import FORMATS, Format, cases, copied, sample_of
from tests.blender.scenes import reopen
from tests.blender.test_save_back import dialog_of
from tests.blender.test_skl_motions import CURVED, made_motion, written
from tests.blender.test_ui import last_report
from tests.scene import differences, snapshot


def exported(form: Format, path: Path) -> bytes:
    """What an export of the scene to another file writes; the file itself where the format has no export of its own."""
    if not form.export:
        return path.read_bytes()
    out = path.with_name(f"exported{path.suffix}")
    assert getattr(bpy.ops.export_scene, form.export)(filepath=str(out)) == {"FINISHED"}
    return out.read_bytes()


def saved_twice_is_saved_once(form: Format, once: Path, twice: Path) -> None:
    """Check that two edits that are saved together give what they give one by one, and that nothing else is written."""

    def save() -> set[str]:
        return dialog_of(form.save, backup=False).execute(bpy.context)

    form.load(once)
    form.edit()
    form.edit()
    assert save() == {"FINISHED"}
    bpy.ops.wm.read_homefile(use_empty=True)
    written = [twice.read_bytes()]
    form.load(twice)
    for _ in range(2):
        for _ in range(2):
            assert save() == {"CANCELLED"}
        reopen(twice.parent)
        assert save() == {"CANCELLED"}
        assert exported(form, twice) == twice.read_bytes() == written[-1]
        form.edit()
        assert save() == {"FINISHED"}
        assert twice.read_bytes() not in written
        written.append(twice.read_bytes())
    assert form.alike(written[-1], once.read_bytes())
    assert save() == {"CANCELLED"}
    reopen(twice.parent)
    assert save() == {"CANCELLED"}
    assert twice.read_bytes() == written[-1]


@pytest.mark.parametrize("name", [name for name, form in FORMATS.items() if form.samples])
def test_the_frame_that_is_shown_changes_nothing_that_is_saved(name, tmp_path):
    form, path = FORMATS[name], sample_of(name, tmp_path / "of")
    form.load(path)
    form.edit()
    plans = []
    for frame in (0, 3.25, 40):
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
        plan = dialog_of(form.save)._shown.plan
        plans.append([(part.path, part.data) for part in getattr(plan, "plans", [plan])])
    assert plans[0] == plans[1] == plans[2]


@pytest.mark.parametrize(("name", "file"), cases(6))
def test_what_is_not_edited_leaves_byte_for_byte_also_after_a_reload(name, file, tmp_path):
    form, path = FORMATS[name], copied(file, tmp_path / "of")
    form.load(path)
    before = snapshot()
    for _ in range(2):
        assert exported(form, path) == path.read_bytes()
        assert not form.export or len(last_report()) == 1, "nothing is warned of"
        assert dialog_of(form.save).execute(bpy.context) == {"CANCELLED"}
        if before:
            assert differences(before, snapshot()) == []
            before = {}
            reopen(path.parent)


@pytest.mark.parametrize(("name", "file"), cases())
def test_what_is_saved_twice_is_what_is_saved_once(name, file, tmp_path):
    saved_twice_is_saved_once(FORMATS[name], copied(file, tmp_path / "once"), copied(file, tmp_path / "twice"))


@pytest.mark.parametrize("name", ["made.skl", "made.skls"])
def test_editor_motions_saved_twice_are_what_is_saved_once(name, tmp_path):
    for folder in ("once", "twice"):
        (tmp_path / folder).mkdir()
        written(tmp_path / folder, made_motion(CURVED), name=name)
    saved_twice_is_saved_once(FORMATS["skl"], tmp_path / "once" / name, tmp_path / "twice" / name)
