"""Options are declared once: properties of operators come from the dataclasses that imports and exports take."""

from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from types import SimpleNamespace

import bpy
import pytest

from addon.games.arma import options as arma
from addon.games.options import OPTION, choice, option, path
from addon.games.xray import options as xray
from addon.ui.options import options_from, properties_from

DECLARED = [kind for game in (arma, xray) for kind in vars(game).values() if is_dataclass(kind)]


class Taste(Enum):
    SWEET = 1
    SALTY = 2


ITEMS = (("SWEET", "Sweet", "As honey"), ("SALTY", "Salty", "As the sea"))


@dataclass(frozen=True)
class ToyOptions:
    count: int = option(3, "Count", "How many", min=1)
    taste: Taste = choice(Taste.SALTY, "Taste", "Which taste", ITEMS)  # noqa: RUF009 - as in options.py
    tastes: frozenset[Taste] = choice(frozenset({Taste.SWEET}), "Tastes", "Which tastes", ITEMS)
    table: str = path("Table", "A file", ".json")
    hidden: bool = False


def test_an_operator_has_a_property_for_each_option_that_is_shown():
    declared = properties_from(ToyOptions).__annotations__
    assert list(declared) == ["count", "taste", "tastes", "table"]
    assert declared["count"].keywords["min"] == 1
    assert declared["taste"].keywords["default"] == "SALTY"
    assert declared["tastes"].keywords["options"] == {"ENUM_FLAG"}
    assert "search" in declared["table"].keywords


def test_the_options_are_what_is_set_on_the_operator():
    operator = SimpleNamespace(count=5, taste="SWEET", tastes={"SALTY", "SWEET"}, table="//names.json")
    found = options_from(operator, ToyOptions, hidden=True)
    assert found == ToyOptions(5, Taste.SWEET, frozenset(Taste), bpy.path.abspath("//names.json"), hidden=True)
    assert options_from(operator, ToyOptions, count=7).count == 7


@pytest.mark.parametrize("kind", DECLARED, ids=lambda kind: kind.__name__)
def test_every_choice_is_a_member(kind):
    chosen = [one for one in fields(kind) if "items" in one.metadata.get(OPTION, ())]
    for one in chosen:
        default = next(iter(one.default)) if isinstance(one.default, frozenset) else one.default
        assert [item[0] for item in one.metadata[OPTION]["items"]] == [member.name for member in type(default)]
