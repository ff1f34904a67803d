"""`blender --command motionbridge scene …`: import, export, save without a window."""

import bpy
import pytest

from addon.ui import command, scene_command
from tests.real_files import corpus_files


def test_a_model_and_its_motions_go_through_a_saved_scene(samples, tmp_path, capfd) -> None:
    saved, written = tmp_path / "scene.blend", tmp_path / "humanoid.omf"
    files = [str(samples / name) for name in ("humanoid.ogf", "humanoid.omf")]
    assert scene_command.main(["--import", *files, "--save", str(saved)]) == 0
    assert "Motions imported onto" in capfd.readouterr().out
    assert scene_command.main(["--open", str(saved), "--export", str(written)]) == 0
    assert written.read_bytes() == (samples / "humanoid.omf").read_bytes()


def test_chosen_motions_go_into_a_file_existing(samples, tmp_path) -> None:
    target = tmp_path / "target.omf"
    target.write_bytes((samples / "humanoid.omf").read_bytes())
    files = [str(samples / name) for name in ("humanoid.ogf", "humanoid.omf")]
    assert scene_command.main(["--import", *files, "--motions", "walk", "--export", str(target), "--into"]) == 0
    assert len(bpy.data.actions) == 1
    assert target.read_bytes() == (samples / "humanoid.omf").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--import", "nowhere.omf"], "nowhere.omf"),
        (["--import", "picture.png"], "not have a supported suffix"),
        (["--export", "x.omf"], "motionbridge: No armature in the scene"),
        (["--export", "x.oof"], "motionbridge: No mesh in the scene"),
        (["--open", "nowhere.blend"], "nowhere.blend"),
        (["--export", "x.skls", "--motions", "walk"], "--motions chooses motions to import"),
        (["--export", "x.anm", "--into"], "--into is for motion files"),
        (["--run", "motionbridge.report", "nosuch=1"], "motionbridge.report has no option 'nosuch'; it has:"),
        (["--run", "import_scene.xray_anm", "target=NOWHERE"], "import_scene.xray_anm: enum"),
        ([], "nothing is to be done"),
        (["--tipo"], "see motionbridge scene --help"),
    ],
)
def test_a_refusal_is_one_sentence_and_a_status(arguments, sentence, capfd) -> None:
    assert scene_command.main(arguments) == 2
    message = capfd.readouterr().err
    assert sentence in message
    assert "Traceback" not in message
    assert message.count("motionbridge: ") == 1
    assert "usage" not in message


def test_the_command_knows_both_halves(samples, capfd) -> None:
    assert command._execute(["info", str(samples / "weapon.omf")]) == 0
    assert "X-Ray skeletal motions" in capfd.readouterr().out
    assert command._execute(["scene", "--import", str(samples / "weapon.ogf")]) == 0
    assert "weapon" in capfd.readouterr().out


def test_any_operator_can_be_run_by_its_name(samples, tmp_path, capfd) -> None:
    motions, saved = tmp_path / "humanoid.omf", tmp_path / "scene.blend"
    motions.write_bytes((samples / "humanoid.omf").read_bytes())
    imported = ["--import", str(samples / "humanoid.ogf"), str(motions)]
    run = ["--run", "motionbridge.update_status", "--run", "motionbridge.save_back", "backup=False", "if_changed=DISK"]
    assert scene_command.main([*imported, *run, "--save", str(saved)]) == 0
    assert motions.read_bytes() == (samples / "humanoid.omf").read_bytes()
    assert not motions.with_name("humanoid.omf.bak").exists()
    for name in ("motionbridge.no_such_thing", "wm.quit_blender"):
        assert scene_command.main(["--run", name]) == 2
        assert name in capfd.readouterr().err


def test_every_suffix_that_can_be_dropped_is_known() -> None:
    handlers = [handler for handler in bpy.types.FileHandler.__subclasses__() if "motionbridge" in handler.bl_idname]
    assert len(handlers) > 5
    for handler in handlers:
        if handler.bl_import_operator == "motionbridge.from_game":
            continue  # a dialog, which a command has not: it takes a path inside of an archive
        suffixes = set(handler.bl_file_extensions.split(";"))
        assert suffixes <= set(scene_command.IMPORTERS), handler
        if getattr(handler, "bl_export_operator", ""):
            assert suffixes - {".err"} <= set(scene_command.EXPORTERS), handler


@pytest.mark.parametrize("path", corpus_files("details/bx_v3.details", "cform/bx_test.cform", "dm/bx_test.dm"))
def test_files_of_a_level_come_and_go(path, tmp_path) -> None:
    target = tmp_path / f"out{path.suffix}"
    assert scene_command.main(["--import", str(path), "--export", str(target)]) == 0
    assert target.read_bytes() == path.read_bytes()
