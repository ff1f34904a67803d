"""Bytes of a file that stay with data-blocks: what was stored comes back, all else is refused, for every format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import pytest

from addon.blender import properties
from addon.core.errors import ReadError
from addon.ui import badges, scene_command
from tests.blender.scenes import reopen
from tests.work import lines_run, memory_peak

SEAL = "_seal"
MODEL = ("humanoid.ogf",)


def groups(owner: Any) -> Iterator[Any]:
    """Our property groups on a data-block, with those inside them."""
    for name in dir(owner):
        if not name.startswith("motionbridge_"):
            continue
        value = getattr(owner, name)
        if isinstance(value, bpy.types.PropertyGroup):
            yield value
        elif hasattr(value, "foreach_get"):
            yield from value


def stored() -> list[tuple[Any, str]]:
    """Every property with bytes that something in the file has: its group and its name."""
    owners = [*bpy.data.actions, *bpy.data.objects, *bpy.data.armatures, *bpy.data.meshes, *bpy.data.collections]
    result = []
    for owner in owners:
        for group in groups(owner):
            keys = [prop.identifier for prop in group.bl_rna.properties]
            names = [key.removesuffix(SEAL) for key in keys if key.endswith(SEAL)]
            result += [(group, name) for name in names if getattr(group, name)]
    return result


def group_of_an_action() -> Any:
    return bpy.data.actions.new("walk").motionbridge_motion


def test_every_property_with_bytes_has_a_seal() -> None:
    kinds = [kind for kind in bpy.types.PropertyGroup.__subclasses__() if ".games." in kind.__module__]
    with_bytes = 0
    for kind in kinds:
        names = {p.identifier for p in kind.bl_rna.properties if getattr(p, "subtype", "") == "BYTE_STRING"}
        plain = {name for name in names if not name.endswith(SEAL)}
        assert {name + SEAL for name in plain} == names - plain, kind
        with_bytes += len(plain)
    assert with_bytes >= 14


@pytest.mark.parametrize("data", [b"", b"\0", b"a\0b" * 1000, bytes(range(256))])
def test_what_was_stored_comes_back(data) -> None:
    group = group_of_an_action()
    properties.keep(group, "body", memoryview(data))
    assert properties.kept(group, "body") == data
    properties.drop(group, "body")
    assert properties.kept(group, "body") == b""
    assert group.body_seal == b""


@pytest.mark.parametrize("damaged", [b"", b"abc", b"abcdefg", b"abcdeF"])
def test_bytes_that_were_not_stored_are_refused(damaged) -> None:
    group = group_of_an_action()
    properties.keep(group, "body", b"abcdef")
    group.body = damaged
    with pytest.raises(ReadError, match=r"^walk: .*damaged.* Import the file again\.$"):
        properties.kept(group, "body")


@pytest.mark.parametrize("size", [properties.MOST_DIGESTED, properties.MOST_DIGESTED + 1])
def test_damage_of_many_bytes_is_found(size) -> None:
    group, data = group_of_an_action(), bytes(range(256)) * (size // 256) + bytes(size % 256)
    properties.keep(group, "body", data)
    assert properties.kept(group, "body") == data
    for damaged in (data[:-1], data + b"\0", data[:700] + b"\0" + data[701:]):
        group.body = damaged
        with pytest.raises(ReadError, match="damaged"):
            properties.kept(group, "body")


@pytest.mark.parametrize("seal", [b"", b"\1", b"\0" * 17, b"\1" * 40, b"\2" * 16])
def test_a_damaged_seal_is_refused(seal) -> None:
    group = group_of_an_action()
    properties.keep(group, "body", b"abcdef")
    group.body_seal = seal
    with pytest.raises(ReadError, match="damaged"):
        properties.kept(group, "body")


def test_data_of_a_newer_version_is_refused_with_its_own_remedy() -> None:
    group = group_of_an_action()
    properties.keep(group, "body", b"abcdef")
    group.body_seal = bytes([properties.DATA_VERSION + 1]) + group.body_seal[1:]
    with pytest.raises(ReadError, match="Update Motionbridge"):
        properties.kept(group, "body")


def test_a_copied_action_and_a_saved_file_keep_bytes_and_seal(tmp_path) -> None:
    group = group_of_an_action()
    properties.keep(group, "body", b"ab\0cd")
    bpy.data.actions["walk"].copy().name = "copy"
    for action in bpy.data.actions:
        action.use_fake_user = True
    reopen(tmp_path)
    for name in ("walk", "copy"):
        motion = bpy.data.actions[name].motionbridge_motion
        assert properties.kept(motion, "body") == b"ab\0cd"
        assert motion.body_seal


def test_seals_of_a_library_of_motions_cost_next_to_nothing() -> None:
    motion = bpy.data.actions.new("walk").motionbridge_motion

    def keep_and_read(data):
        properties.keep(motion, "body", data)
        assert properties.kept(motion, "body") == data

    keep_and_read(bytes(30))
    assert lines_run(lambda: keep_and_read(bytes(30_000))) == lines_run(lambda: keep_and_read(bytes(30))) < 200
    assert memory_peak(lambda: keep_and_read(bytes(300_000))) < 10 * 300_000


# Every format: imported, damaged, exported ---------------------------------------------------------------------------

KINDS = [
    pytest.param(MODEL, "humanoid.omf", ".omf", {"body", "document"}, id="omf"),
    pytest.param((), "humanoid.ogf", ".ogf", {"document"}, id="ogf"),
    pytest.param((), "camera.anm", ".anm", {"document"}, id="anm"),
    pytest.param(MODEL, "made.skls", ".skls", {"body", "drawn", "document"}, id="skls"),
    pytest.param(MODEL, "made.bones", ".bones", {"document"}, id="bones"),
    pytest.param((), "level/level.cform", ".cform", {"document"}, id="cform"),
    pytest.param((), "level/level.hom", ".hom", {"document"}, id="hom"),
    pytest.param((), "level/level.som", ".som", {"document"}, id="som"),
    pytest.param((), "level/level.details", ".details", {"document"}, id="details"),
    pytest.param((), "level/grass.dm", ".dm", {"document"}, id="dm"),
    pytest.param(("arma/man.p3d",), "arma/walk.rtm", ".rtm", {"document", "frames", "phases", "digest"}, id="rtm"),
    pytest.param((), "descent3/ship.oof", ".oof", {"document"}, id="oof"),
    pytest.param((), "arma/man.p3d", ".p3d", {"document"}, id="p3d"),
    pytest.param((), "weapon.object", ".object", {"document", "body", "drawn"}, id="object"),
]


READ_BY = {"ModelProperties": ".ogf", "ArmaModelProperties": ".p3d", "SkeletalFile": ".skls"}
"""Groups that only exports of one suffix read: others are onto a model, or have these motions in their own document."""


def scene(*arguments: str | Path) -> int:
    return scene_command.main([str(argument) for argument in arguments])


def refusal(target: Path) -> str:
    """Export what is in the scene; the sentence of the refusal, empty where the file was written."""
    try:
        exporting = getattr(bpy.ops.export_scene, scene_command.EXPORTERS[target.suffix])
        assert exporting(filepath=str(target)) == {"FINISHED"}
    except RuntimeError as refused:
        assert not target.exists()
        return str(refused)
    return ""


@pytest.fixture
def source(samples: Path, tmp_path: Path, request: Any) -> tuple[list[Path], Path]:
    """The files to import, and the one of them that is exported again."""
    before, name = request.param
    models, path = [samples / entry for entry in before], samples / name
    if name.startswith("made"):
        path = tmp_path / name
        motions = [samples / "humanoid.omf"] if path.suffix == ".skls" else []
        assert scene("--import", *models, *motions, "--export", path) == 0
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return [*models, path], path


def kinds() -> Any:
    created = [(entry.values, entry.id) for entry in KINDS]
    values = [((before, name), suffix, properties) for (before, name, suffix, properties), _ in created]
    names = ("source", "suffix", "properties")
    return pytest.mark.parametrize(names, values, ids=[name for _, name in created], indirect=["source"])


@kinds()
def test_damaged_bytes_are_not_written(source, suffix, properties, tmp_path, capfd) -> None:
    files, path = source
    target = tmp_path / f"out{suffix}"
    assert scene("--import", *files) == 0
    tried = set()
    for group, name in stored():
        if READ_BY.get(group.bl_rna.identifier, suffix) != suffix:
            continue
        good = getattr(group, name)
        for damaged in (good[: len(good) // 2], good + b"junk"):
            setattr(group, name, damaged)
            badges.compare(bpy.context)
            badges.compare_model(bpy.context)
            message = refusal(target)
            assert "Import the file again" in message
            assert "Traceback" not in message + "".join(capfd.readouterr())
            tried.add(name)
        setattr(group, name, good)
    assert tried == properties
    assert not refusal(target)
    assert target.read_bytes() == path.read_bytes()
