"""Everything the user reads has a Russian translation, and Blender finds it."""

import ast
import inspect
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import addon_utils
import bpy
import pytest

import addon.ui
from addon import games
from addon.core.report import Report, say
from addon.formats.arma import lod_kinds
from addon.ui import bases, menus, motion_lists, operation, saving
from addon.ui.xray import levels

FOLDER = Path(addon.ui.__file__).parent
RUSSIAN = bases.contexts(bases.FILES["ru_RU"])[bases.DEFAULT]
PROPERTIES = tuple(kind for added in (*games.ADDED, motion_lists.ADDED) for kind in added.classes)
DRAWN = {"text", "title", "confirm_text"}
ASKED = {"rpt_", "iface_", "poll_message_set", "Need"}

# The same in every language, or Blender's own and translated by it.
SAME = {
    *("", "FX", "Motionbridge", "Motionbridge Report"),
    *("S.T.A.L.K.E.R. (X-Ray)", "Arma, Operation Flashpoint", "Descent 3", "Arma 3", "DayZ"),
    *("3", "4", "5", "2300", "2200", "2100", "model.cfg"),
    *("OpenXRay", "Anomaly", "IX-Ray", "Advanced X-Ray", "16:9", "4:3", "HUD", "PhysX"),
    *("DXT1", "DXT5", "ARGB 8888", "ARGB 4444", "ARGB 1555"),
    *lod_kinds.BY_WORD,  # the names of Object Builder
    *("file", "frames", "matrix", "File Path", "Filepath used for exporting the file"),
    *("Check Existing", "Check and warn on overwriting existing files"),
}


def registered() -> set[str]:
    """Labels, descriptions and items of every class and property that is ours."""
    result = set()
    for kind in (*addon.ui.CLASSES, *PROPERTIES):
        result.add(getattr(kind, "bl_label", ""))
        if issubclass(kind, bpy.types.Operator | bpy.types.Menu):
            result.add(inspect.cleandoc(kind.__doc__))
        for prop in properties_of(kind):
            result |= {prop.name, prop.description}
            if prop.type == "ENUM":
                result |= {text for item in prop.enum_items for text in (item.name, item.description)}
    return result


def properties_of(kind: type) -> list:
    """What a class of ours declares and shows."""
    if issubclass(kind, bpy.types.Panel | bpy.types.FileHandler):
        return []
    rna = kind.bl_rna
    if issubclass(kind, bpy.types.Operator):
        group, name = kind.bl_idname.split(".")
        rna = getattr(getattr(bpy.ops, group), name).get_rna_type()
    declared = {name for base in kind.__mro__ for name in inspect.get_annotations(base)}
    drawn = {"ENUM", "BOOLEAN"}  # a hidden one of these may still be drawn
    actual = [
        prop for prop in rna.properties if prop.identifier in declared and (not prop.is_hidden or prop.type in drawn)
    ]
    return [prop for prop in actual if prop.type not in {"POINTER", "COLLECTION"}]


def written() -> set[str]:
    """Texts that our code draws or reports."""
    result = {
        text
        for both in ((game.imports, game.exports) for game in menus.GAMES)
        for entries in both
        for text in entries.values()
    }
    for file in FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            values = [keyword.value for keyword in node.keywords if keyword.arg in DRAWN]
            values += node.args if name in ASKED else []
            for value in values:
                ends = (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)
                result |= {end.value for end in ends if isinstance(end, ast.Constant) and isinstance(end.value, str)}
    return result


def test_every_text_has_a_translation():
    wanted = {text for text in registered() | written() if text not in SAME}
    assert len(wanted) > 200
    assert sorted(wanted - RUSSIAN.keys()) == []


def test_no_translation_is_left_of_a_text_that_is_gone():
    assert sorted(RUSSIAN.keys() - registered() - written()) == []


def test_the_file_of_translations_is_sorted_with_one_text_a_line():
    text = bases.FILES["ru_RU"].read_text(encoding="utf-8")
    assert text == json.dumps(json.loads(text), ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def test_translations_have_the_same_values_to_fill():
    wrong = [english for english, russian in RUSSIAN.items() if english.count("{") != russian.count("{")]
    assert wrong == []
    assert all(any("а" <= letter.lower() <= "я" for letter in russian) for russian in RUSSIAN.values())


def test_descriptions_end_as_blenders_own_do():
    assert [text for text in registered() if text.endswith(".") and not text.endswith("...")] == []


@pytest.fixture
def russian_interface():
    view = bpy.context.preferences.view
    before = view.language
    try:
        view.language = "ru_RU"
    except TypeError:
        pytest.skip("this Blender has no translations")
    view.use_translate_interface = True
    yield
    view.language = before


def labels() -> Iterator[tuple[str, str]]:
    """Every label that Blender draws of our classes and properties, with the context in which it looks it up."""
    for kind in (*addon.ui.CLASSES, *PROPERTIES):
        if issubclass(kind, bpy.types.Operator):
            group, name = kind.bl_idname.split(".")
            rna = getattr(getattr(bpy.ops, group), name).get_rna_type()
            yield rna.name, rna.translation_context
        elif issubclass(kind, bpy.types.Panel | bpy.types.Menu):
            yield kind.bl_label, kind.bl_translation_context
        for prop in properties_of(kind):
            yield prop.name, prop.translation_context
            for item in prop.enum_items if prop.type == "ENUM" else ():
                yield item.name, prop.translation_context


def drawn() -> Iterator[str]:
    """Texts that our code gives to a layout without an operator or a property; Blender's default context is theirs."""
    for file in FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            name = getattr(node.func, "attr", "") if isinstance(node, ast.Call) else ""
            if name in {"label", "invoke_props_dialog", "popup_menu", "heading"}:
                values = [keyword.value for keyword in node.keywords if keyword.arg in DRAWN]
                ends = [
                    end for value in values for end in (getattr(value, "body", value), getattr(value, "orelse", value))
                ]
                yield from (end.value for end in ends if isinstance(end, ast.Constant) and isinstance(end.value, str))


def test_labels_are_looked_up_in_a_context_of_our_own():
    """In Blender's contexts its own words come first, such as those for Track, Head and Power."""
    blenders = {prop.name for prop in bpy.types.Operator.bl_rna.properties}
    outside = {label for label, context in labels() if label not in SAME | blenders and context != bases.TRANSLATIONS}
    assert outside == set()


def test_blender_shows_our_words(russian_interface):
    shown_in = [*labels(), *((text, bases.DEFAULT) for text in drawn())]
    seen = {text: bpy.app.translations.pgettext_iface(text, context) for text, context in shown_in if text in RUSSIAN}
    assert len(seen) > 500
    assert {text: russian for text, russian in seen.items() if russian != RUSSIAN[text]} == {}


def test_sentences_of_long_work_are_found_in_its_thread(russian_interface):
    """Blender itself translates in its main thread alone."""
    view = bpy.context.preferences.view
    view.use_translate_reports = True
    sentence = "Imported animations: {}"
    result = []

    def work():
        result.extend((bases.rpt_(sentence), bases.iface_("Save Back"), bases.rpt_("not ours")))

    for _ in range(2):
        bases.notice_language()
        running = threading.Thread(target=work)
        running.start()
        running.join()
        view.use_translate_reports = view.use_translate_interface = False
    view.use_translate_reports = view.use_translate_interface = True
    assert result == [RUSSIAN[sentence], RUSSIAN["Save Back"], "not ours", sentence, "Save Back", "not ours"]


def test_our_words_come_before_blenders(russian_interface):
    """Its button Close is called closed."""
    assert bases.iface_("Close") == RUSSIAN["Close"] == "Закрыть"


def test_they_go_with_the_extension(russian_interface):
    module = "bl_ext.dev.motionbridge"
    addon_utils.disable(module)
    try:
        assert bpy.app.translations.pgettext_iface("Save Back") == "Save Back"
    finally:
        addon_utils.enable(module)


class Labels:
    """Stands for a layout."""

    def __init__(self):
        self.texts = []

    def label(self, *, text, icon, translate):
        self.texts.append(text)


@pytest.fixture
def our_russian(monkeypatch):
    """Our texts are Russian, also in a Blender without translations."""
    bases.notice_language()
    monkeypatch.setitem(bases.FILES, bases._noticed["language"], bases.FILES["ru_RU"])
    view = bpy.context.preferences.view
    before = view.use_translate_interface, view.use_translate_reports
    view.use_translate_interface = view.use_translate_reports = True
    yield
    view.use_translate_interface, view.use_translate_reports = before


def refused(path):
    """What the refusal to import a broken file says, as Blender shows it, and as our report keeps it."""
    with pytest.raises(RuntimeError) as caught:
        bpy.ops.import_scene.xray_anm(filepath=str(path))
    return str(caught.value).strip(), bpy.context.window_manager.motionbridge_report


def test_refusals_are_in_the_language_of_reports(our_russian, tmp_path):
    path = tmp_path / "broken.anm"
    path.write_bytes(bytes(range(40)))
    view = bpy.context.preferences.view
    russian, kept = refused(path)
    view.use_translate_reports = False
    english, kept_english = refused(path)
    problem = "the first chunk (0x3020100) claims 117835012 bytes, 32 follow: truncated, or not a chunked file"
    remedy = "Check that this is a file of S.T.A.L.K.E.R. and that it was copied whole"
    assert english.endswith(kept_english)
    assert kept_english == f"{path}, offset 0: {problem}. {remedy}."
    assert russian.endswith(kept)
    problem = "в первом чанке (0x3020100) заявлено байт: 117835012, а следует 32: файл обрезан или состоит не из чанков"
    remedy = "Проверьте, что это файл S.T.A.L.K.E.R. и что он скопирован целиком"
    assert kept == f"{path}, смещение 0: {problem}. {remedy}."


def test_warnings_are_in_the_language_of_where_they_are_shown(our_russian):
    view = bpy.context.preferences.view
    report = Report()
    report.warn(say("{:# triangle|# triangles} without area; not shown, but kept", 3), "hull")
    english, russian = report.lines()[0], "3 треугольника без площади; не показаны, но сохраняются (hull)"
    dialog = Labels()
    saving.draw_warnings(dialog, report)
    assert dialog.texts == [russian]
    assert operation.status_line("hull.ogf", report) == f"hull.ogf. {russian}"
    view.use_translate_reports = False
    assert operation.status_line("hull.ogf", report) == f"hull.ogf. {english}"
    view.use_translate_reports, view.use_translate_interface = True, False
    dialog = Labels()
    saving.draw_warnings(dialog, report)
    view.use_translate_interface = True
    assert dialog.texts == [english]
    assert operation.status_line("hull.ogf", report) == f"hull.ogf. {russian}"


def test_sentences_of_refusals_and_reports_are_loaded_when_one_is_shown_in_russian(our_russian):
    bases._sentences.cache_clear()
    bpy.context.preferences.view.use_translate_interface = False
    assert bases.tell("Choose another bone") == "Choose another bone"
    bpy.context.preferences.view.use_translate_interface = True
    assert bases._sentences.cache_info().currsize == 0
    assert bases.tell("Choose another bone") == "Выберите другую кость"
    assert bases._sentences.cache_info().currsize == 1


def test_a_refusal_loses_the_word_that_blender_puts_before_it_in_any_language(monkeypatch):
    sentence = "walk.omf: the file is empty"
    assert bases.refusal_in(RuntimeError(f"Error: {sentence}\n")) == sentence
    monkeypatch.setattr(bases, "translations", SimpleNamespace(pgettext_rpt={"Error": "Ошибка"}.get))
    assert bases.refusal_in(RuntimeError(f"Ошибка: {sentence}\n")) == sentence
    assert bases.refusal_in(RuntimeError(f"Error: {sentence}\n")) == sentence


def test_blender_translates_that_word_as_we_expect(russian_interface, monkeypatch):
    monkeypatch.setattr(bpy.context.preferences.view, "use_translate_reports", True)
    with pytest.raises(RuntimeError) as raised:
        bpy.ops.import_scene.xray_omf(filepath="nothing.omf")
    assert str(raised.value).startswith("Ошибка: ")
    assert not bases.refusal_in(raised.value).startswith("Ошибка")


@pytest.mark.parametrize("name", ["level.hom", "level.som", "level.details", "level.ai"])
def test_the_colours_of_a_level_are_explained_in_the_users_language(our_russian, samples, name):
    assert bpy.ops.import_scene.xray_level(directory=str(samples / "level")) == {"FINISHED"}
    (obj,) = (obj for obj in bpy.context.scene.objects if obj.name == name)
    names = {material.name: levels.legend_name(material) for material in obj.data.materials}
    assert names
    assert not [russian for russian in names.values() if re.search("[a-z]", russian)]
    assert all(re.findall(r"\d+", english) == re.findall(r"\d+", russian) for english, russian in names.items())
