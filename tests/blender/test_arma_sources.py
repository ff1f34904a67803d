"""What a model or an animation of Arma refers to: found beside it, in its project by prefixes, and in games."""

import shutil

import bpy
import pytest

from addon.core.game import InstalledGame
from addon.core.report import Report
from addon.formats.arma.skeletons import Hierarchy
from addon.games.arma.skeletons import _pivots_model_of, config_of
from addon.games.arma.sources import Sources
from tests.blender.saved_formats import FORMATS
from tests.blender.test_ui import installed
from tests.formats.archives import written as archives
from tests.real_files import SAMPLES

CLASSES = 'class CfgSkeletons {{ class S {{ skeletonBones[] = {{"{0}_root", ""}}; }}; }};\n'
CONFIG = CLASSES + 'class CfgModels {{ class {0} {{ skeletonName = "S"; }}; }};\n'


def put(path, text=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def project(tmp_path):
    """Two addons with prefixes that their folders do not tell."""
    put(tmp_path / "project/mod.cpp")
    put(tmp_path / "project/one/$PBOPREFIX$", "x\\tag\\addons\\main\n")
    put(tmp_path / "project/two/$PBOPREFIX$", "x\\tag\\addons\\other\n")
    return tmp_path / "project"


def test_a_path_below_the_prefix_of_another_addon_is_found_and_comes_before_an_end_of_it(project):
    model = put(project / "one/models/gun.p3d")
    texture = put(project / "two/data/a_co.paa")
    put(project / "one/data/a_co.paa")
    for name in ("x\\tag\\addons\\other\\data\\a_co.paa", "\\X\\TAG\\addons/other/data/A_CO.tga"):
        assert Sources(model, ()).find(name, (".png", ".paa")) == texture
    assert Sources(model, ()).find("x\\tag\\addons\\main\\data\\a_co.paa", (".paa",)) == project / "one/data/a_co.paa"
    assert Sources(model, ()).find("y\\addons\\other\\data\\b_co.paa", (".paa",)) is None


@pytest.mark.parametrize("where", ["one/models", "one", "", "one/models/deep/gun.cfg"])
def test_the_nearest_model_cfg_with_the_class_of_the_model_counts(where, project):
    model = put(project / "one/models/deep/gun.p3d")
    config = put(project / where / ("" if where.endswith(".cfg") else "Model.cfg"), CONFIG.format("gun"))
    put(project.parent / "model.cfg", CONFIG.format("gun"))
    assert config_of(str(model), Report(), ()) == str(config)
    beside = put(model.with_name("model.cfg"), CONFIG.format("other"))
    assert config_of(str(model), Report(), ()) == str(config)
    assert config_of(str(model.with_name("third.p3d")), Report(), ()) == str(beside), "none has its class"
    beside.write_text(CONFIG.format("gun"))
    assert config_of(str(model), Report(), ()) == str(beside)


def test_a_model_cfg_above_without_the_class_does_not_count_and_one_that_is_broken_is_reported(project):
    model, report = put(project / "one/models/gun.p3d"), Report()
    put(project / "one/model.cfg", CONFIG.format("other"))
    assert (config_of(str(model), report, ()), report.lines()) == ("", [])
    put(project / "one/model.cfg", "\0")
    assert config_of(str(model), report, ()) == ""
    assert [line for line in report.lines() if "a model.cfg is left out" in line and "one" in line]


def test_a_model_of_a_packed_addon_finds_the_model_cfg_of_its_sources_and_of_its_addon(tmp_path):
    packed = tmp_path / "game/addons/main.pbo"
    packed.parent.mkdir(parents=True)
    files = [(b"models\\gun.p3d", b"P"), (b"model.cfg", CONFIG.format("gun").encode())]
    packed.write_bytes(archives.pbo(files, properties=[(b"prefix", b"x\\main")]))
    model, games = str(packed / "models/gun.p3d"), [InstalledGame(tmp_path / "game")]
    assert config_of(model, Report(), ()) == str(packed / "model.cfg")
    drive = put(tmp_path / "drive/x/main/models/model.cfg", CONFIG.format("gun")).parents[3]
    games.append(InstalledGame(drive))
    assert config_of(model, Report(), games) == str(drive / "x/main/models/model.cfg")


def test_the_pivots_model_is_found_by_its_path_in_the_game_and_a_binarised_one_is_not_used(project):
    model, pivots = put(project / "one/man.p3d"), put(project / "two/rig/pivots.p3d", "MLOD")
    hierarchy = Hierarchy("S", {}, pivots_model="\\x\\tag\\addons\\other\\rig\\Pivots.p3d")
    report = Report()
    assert (_pivots_model_of(hierarchy, Sources(model, ()), report), report.lines()) == (str(pivots), [])
    put(pivots, "ODOL")
    assert _pivots_model_of(hierarchy, Sources(model, ()), report) == ""
    assert any("made for the game" in line for line in report.lines())
    assert _pivots_model_of(Hierarchy("S", {}), Sources(model, ()), Report()) == ""


def test_every_import_export_and_save_of_an_animation_looks_in_the_games_of_the_preferences(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("addon.games.arma.skeletons.config_of", lambda _file, _report, games: asked.append(games) or "")
    path, drive = str(tmp_path / "walk.rtm"), tmp_path / "drive"
    shutil.copy(SAMPLES / "arma/walk.rtm", path)
    with installed(put(drive / "x/$PBOPREFIX$", "x").parents[1]):
        for call in (
            lambda: bpy.ops.import_scene.arma_rtm(filepath=path),
            lambda: bpy.ops.export_scene.arma_rtm(filepath=str(tmp_path / "new.rtm")),
            lambda: FORMATS["rtm"].edit() or bpy.ops.motionbridge.arma_save_back(),
        ):
            asked.clear()
            assert call() == {"FINISHED"}
            assert {game.folder for games in asked for game in games} == {drive}, call
