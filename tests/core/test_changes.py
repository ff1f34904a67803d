"""What an export changes, in English and in Russian."""

import json
from collections import Counter
from pathlib import Path

import pytest

from addon.core.changes import Changes, Item, Noun, Part, Unit, sampled_because
from addon.core.report import say, translated

TABLE = json.loads(
    (Path(__file__).resolve().parents[2] / "addon" / "ui" / "ru_reports.json").read_text(encoding="utf-8")
)
ITEMS = (Item("hand X"), Item("hand Y"))
EDITED, NEW = Part("walk", Noun.MOTION, items=ITEMS), Part("run", Noun.MOTION, new=True)


def described() -> Changes:
    changes = Changes()
    changes.note(say("{:# position|# positions}", 12), name="hull")
    changes.note(say("gun points"))
    changes.resized("faces {} -> {}", 3, 4)
    changes.include(Changes({"": [say("parent")]}), "hull")
    return changes


@pytest.mark.parametrize(
    ("changes", "english", "russian"),
    [
        (
            Changes(parts=[EDITED, NEW], unchanged=5, noun=Noun.MOTION, items=Noun.CHANNEL),
            "1 motion, 2 channels changed, 1 motion added, 5 unchanged",
            "изменено: 1 анимация, 2 канала; добавлено: 1 анимация; без изменений: 5",
        ),
        (
            Changes(parts=[EDITED], unchanged=0, extent=say("{:# frame|# frames}", 21), noun=Noun.MOTION),
            "1 motion, 21 frames changed, 0 unchanged",
            "изменено: 1 анимация, 21 кадр; без изменений: 0",
        ),
        (Changes(parts=[NEW], unchanged=0), "1 motion added", "добавлено: 1 анимация"),
        (
            Changes(parts=[NEW], unchanged=0, deleted=Counter({Noun.MOTION: 11})),
            "1 motion added, 11 motions deleted, 0 unchanged",
            "добавлено: 1 анимация; удалено: 11 анимаций; без изменений: 0",
        ),
        (
            described(),
            "hull: 12 positions, parent; gun points, faces 3 -> 4 changed",
            "изменено: hull: 12 положений, родитель; точки стрельбы, граней 3 -> 4",
        ),
        (Changes(unchanged=21, noun=Noun.BONE), "21 bones unchanged", "без изменений: 21 кость"),
        (
            Changes(unchanged=2, noun=Noun.MOTION, renamed=[("a", "b")]),
            "2 motions unchanged, 1 renamed",
            "без изменений: 2 анимации; переименовано: 1",
        ),
        (Changes(new=say("a new path")), "a new path", "новый файл: путь движения"),
        (
            Changes(new=say("a new occluder file"), extent=say("{:# triangle|# triangles}", 36)),
            "a new occluder file, 36 triangles",
            "новый файл: окклюдеры; 36 треугольников",
        ),
        (Changes(), "nothing changed", "изменений нет"),
    ],
)
def test_changes_are_one_sentence(changes, english, russian):
    assert changes.sentence() == english
    assert translated(changes.sentence(), TABLE) == russian


@pytest.mark.parametrize(
    ("part", "english", "russian"),
    [
        (NEW, "run: new", "run: новое"),
        (
            Part("hand", Noun.BONE, fields=(say("rest position"), say("mass"))),
            "hand: rest position; mass",
            "hand: положение в позе покоя; масса",
        ),
        (
            Part("walk", Noun.MOTION, items=(*ITEMS, *ITEMS, *ITEMS), fields=(say("bone {}", "Left"),)),
            "walk: hand X, hand Y, hand X, hand Y and 2 more; bone Left",
            "walk: hand X, hand Y, hand X, hand Y и ещё 2; кость Left",
        ),
    ],
)
def test_a_part_is_one_line(part, english, russian):
    assert part.line() == english
    assert translated(part.line(), TABLE) == russian


def test_reasons_for_sampling_follow_the_sentence():
    sentence = say("{} changed", Noun.CHANNEL.counted(1))
    assert sampled_because(sentence, []) is sentence
    sampled = sampled_because(sentence, ["NLA tracks", "active constraints"])
    assert sampled == "1 channel changed, sampled because of NLA tracks, active constraints"
    assert translated(sampled, TABLE) == (
        "изменено: 1 канал; взято по каждому кадру, причина: дорожки НЛА, действующие ограничители"
    )


def test_two_steps_that_change_one_mesh_are_one_changed_mesh():
    changes = Changes()
    for field in (say("bone numbers"), say("{:# weight|# weights}", 3)):
        step = Changes()
        step.change(Noun.MESH, "body", field)
        changes.include(step)
    assert changes.lines_of(Noun.MESH) == ["body: bone numbers", "body: 3 weights"]
    assert changes.sentence() == "1 mesh changed"


def test_the_largest_errors_are_told_apart_by_their_units():
    items = (Item("hand", error=0.5), Item("Y", error=0.25, unit=Unit.RADIANS), Item("H", error=0.125))
    changes = Changes(parts=[Part("walk", Noun.MOTION, items=items)])
    assert changes.worst_errors() == (0.5, 0.25)
    assert changes.worst_error() == (0.5, "hand", "walk")
    assert Changes().worst_errors() == (0, 0)
