"""NaN and infinite values in files: told at import, and kept to the bit where nothing is edited."""

import bpy
import numpy as np
import pytest

from addon.blender import compat
from addon.core.binary import NOT_FINITE
from addon.core.report import Report
from addon.formats.verification import open_document, verify
from addon.formats.xray import omf
from addon.formats.xray.omf.document import TrackFlag
from tests.blender import raw_ogf
from tests.blender.test_skl_motions import STEPPED, made_motion, rig_of, written
from tests.blender.test_ui import game, last_report, load, refusal, turn_a_key  # noqa: F401 (a fixture)
from tests.formats.xray.omf.test_bytes import TRACKS, definition, omf_file, parameters
from tests.formats.xray.omf.test_bytes import motion as raw_motion

VALUES = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf, "huge": 3e38}


def places_in(data: bytes) -> dict[str, int]:
    """Where floats of an `.omf` lie: of a lone translation, a range's size and start, the timing, an interval."""
    document = omf.read(data, "x.omf", Report())
    library, parameters = document.motion_set
    result = {}
    for motion in library.motions:
        at = data.index(bytes(motion.body))
        for number in range(motion.track_count):
            keyed = motion.flags(number) & TrackFlag.TRANSLATION_KEYS
            end = at + motion.starts[number + 1]
            result.setdefault("size" if keyed else "lone translation", end - (24 if keyed else 12))
            if keyed:
                result.setdefault("init", end - 8)
    definition = parameters.definitions[0]
    start = data.index(definition.name + b"\0", data.index(bytes(parameters.partitions[0].name)))
    for name, number in (("speed", 0), ("falloff", 3)):
        result[name] = start + len(definition.name) + 1 + 8 + 4 * number
    marked = next(
        (
            own_definition
            for own_definition in parameters.definitions
            if own_definition.marks and len(own_definition.marks[0].intervals)
        ),
        None,
    )
    if marked is not None:
        result["mark"] = data.index(marked.marks[0].intervals.tobytes())
    return result


PLACES = ["lone translation", "size", "init", "speed", "falloff", "mark"]


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("index", PLACES)
def test_unedited_motions_with_such_values_are_written_unchanged(game, index, value):  # noqa: F811
    path = game / "humanoid.omf"
    data = bytearray(path.read_bytes())
    where = places_in(bytes(data))[index]
    data[where : where + 4] = np.float32(value).tobytes()
    path.write_bytes(data)
    load(game)
    calls = [line for line in last_report() if NOT_FINITE in line]
    assert len(calls) == (0 if np.isfinite(value) else 1)
    out = game / "out.omf"
    assert bpy.ops.export_scene.xray_omf(filepath=str(out)) == {"FINISHED"}
    assert out.read_bytes() == bytes(data)


@pytest.mark.parametrize("second", [b"run", b"walk"])
def test_motions_without_a_definition_are_refused_in_words(game, second):  # noqa: F811
    bones = [b"bone%d" % index for index in range(len(TRACKS))]
    both = [raw_motion(name, *TRACKS.values()) for name in (b"walk", second)]
    path = game / "odd.omf"
    path.write_bytes(omf_file(both, parameters(3, bones, [definition(b"walk", 0)])))
    rig_of([bone.decode() for bone in bones])
    assert bpy.ops.import_scene.xray_omf(filepath=str(path)) == {"FINISHED"}
    words = "the file has 2 motions and 1 definition, so they cannot be matched"
    assert words in refusal(bpy.ops.export_scene.xray_omf, filepath=str(game / "o.omf"))


def test_normals_beyond_reason_are_kept_without_a_warning_of_numpy(samples, tmp_path):
    data = bytearray((samples / "weapon.ogf").read_bytes())
    rows, _ = raw_ogf.vertices(raw_ogf.children(bytes(data))[0][1])
    at = bytes(data).index(rows[0].tobytes()) + rows.dtype.fields["n"][1]
    data[at : at + 12] = np.array([3e38, -3e38, 1], "<f4").tobytes()
    path = tmp_path / "odd.ogf"
    path.write_bytes(data)
    assert bpy.ops.import_scene.xray_ogf(filepath=str(path)) == {"FINISHED"}
    assert bpy.ops.export_scene.xray_ogf(filepath=str(tmp_path / "out.ogf")) == {"FINISHED"}
    assert (tmp_path / "out.ogf").read_bytes() == data


def test_an_edit_beside_such_values_changes_its_own_track_alone(game):  # noqa: F811
    path = game / "humanoid.omf"
    data = bytearray(path.read_bytes())
    where = places_in(bytes(data))["init"]
    data[where : where + 4] = np.float32(np.nan).tobytes()
    path.write_bytes(data)
    rig = load(game)
    before = omf.read(bytes(data), "x.omf", Report()).motion_set.library.motions
    action = next(action for action in bpy.data.actions if action.name == before[0].label)
    rig.animation_data.action = action
    turn_a_key(action)
    out = game / "out.omf"
    assert bpy.ops.export_scene.xray_omf(filepath=str(out)) == {"FINISHED"}
    after = omf.read(out.read_bytes(), "x.omf", Report()).motion_set.library.motions
    for first, other in zip(before, after, strict=True):
        changed = [n for n in range(first.track_count) if bytes(first.track_bytes(n)) != bytes(other.track_bytes(n))]
        assert len(changed) == (first is before[0])


def test_keys_that_became_nan_are_refused_with_a_remedy(game):  # noqa: F811
    rig = load(game)
    curve = next(c for c in compat.curve_bag(rig.animation_data.action).fcurves if c.data_path.endswith("location"))
    curve.keyframe_points[0].co[1] = np.nan  # infinity becomes the largest number in a property
    message = refusal(bpy.ops.export_scene.xray_omf, filepath=str(game / "out.omf"))
    assert "NaN, infinite or too large" in message
    assert "Delete these keys" in message


def first_floats(name: str, data: bytes) -> int:
    """Where the first coordinate of a vertex, corner, key or sub-object lies."""
    document = open_document(data, name)[1]
    values = {
        "level.cform": lambda: document.vertices,
        "level.hom": lambda: document.rows,
        "level.som": lambda: document.rows,
        "level.err": lambda: document.lists[0],
        "grass.dm": lambda: document.vertices,
        "level.details": lambda: document.models[0].vertices,
        "camera.anm": lambda: document.animation.envelopes[0].keys,
        "ship.oof": lambda: document.sub_objects[0].positions,
    }[name]()
    return data.index(values.tobytes())


LEVEL = "xray_level_geometry"
OTHERS = {
    "level/level.cform": LEVEL,
    "level/level.hom": LEVEL,
    "level/level.som": LEVEL,
    "level/level.err": LEVEL,
    "level/grass.dm": LEVEL,
    "level/level.details": LEVEL,
    "camera.anm": "xray_anm",
    "descent3/ship.oof": "descent3_oof",
}


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", OTHERS)
def test_other_files_with_such_values_are_reported_and_are_written_unchanged(name, value, samples, tmp_path):
    operator = OTHERS[name]
    path = tmp_path / name.rpartition("/")[2]
    data = bytearray((samples / name).read_bytes())
    where = first_floats(path.name, bytes(data))
    data[where : where + 4] = np.float32(value).tobytes()
    path.write_bytes(data)
    assert getattr(bpy.ops.import_scene, operator)(filepath=str(path)) == {"FINISHED"}
    assert sum(NOT_FINITE in line for line in last_report()) == 1
    assert NOT_FINITE in "".join(verify(bytes(data), path.name).warnings)
    if path.suffix == ".err":
        return  # these are not exported
    out = tmp_path / f"out{path.suffix}"
    assert getattr(bpy.ops.export_scene, operator)(filepath=str(out)) == {"FINISHED"}
    assert out.read_bytes() == bytes(data)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_editor_motions_with_such_values_are_written_unchanged(value, tmp_path):
    motion = made_motion(STEPPED)
    motion.timing = motion.timing.copy()
    motion.timing[0] = value
    path = written(tmp_path, motion)
    data = path.read_bytes()
    rig_of(["root", "arm", "hand", "Finger"])
    assert bpy.ops.import_scene.xray_skl(filepath=str(path)) == {"FINISHED"}
    assert f"{NOT_FINITE} (walk, timing: 1)" in last_report()
    out = tmp_path / "out.skls"
    assert bpy.ops.export_scene.xray_skl(filepath=str(out)) == {"FINISHED"}
    assert out.read_bytes() == data
