"""Options are declared once: properties of operators come from the classes that imports and exports take."""

import math
from enum import Enum
from types import SimpleNamespace

import bpy
import pytest

from addon.games.arma import options as arma
from addon.games.options import Choice, FittingOptions, Options, choice, listed, made, number_or_none, option, path
from addon.games.xray import options as xray
from addon.ui.bases import options_from, properties_from

VALUES = [*vars(arma).values(), *vars(xray).values()]
DECLARED = [value for value in VALUES if isinstance(value, type) and issubclass(value, Options) and value.FIELDS]


class Taste(Choice):
    SWEET = "Sweet", "As honey"
    SALTY = "Salty", "As the sea"


class Size(Enum):
    SMALL = 1
    LARGE = 2


TASTES = (("SWEET", "Sweet", "As honey"), ("SALTY", "Salty", "As the sea"))
SIZES = (("SMALL", "Small", "As a mouse"), ("LARGE", "Large", "As a house"))


VERSIONS = (("AUTOMATIC", "As before", "The file's"), ("5", "5", "The fifth"))


class ToyOptions(Options):
    count: int = option(3, "Count", "How many", min=1)
    taste: Taste = choice(Taste.SALTY, "Taste", "Which taste")
    tastes: frozenset[Taste] = choice(frozenset({Taste.SWEET}), "Tastes", "Which tastes")
    size: Size = choice(Size.LARGE, "Size", "Which size", SIZES)
    table: str = path("Table", "A file", ".json")
    version: int | None = listed(
        "AUTOMATIC", number_or_none, "Version", "Which one", (("AUTOMATIC", "-", ""), ("5", "5", ""))
    )
    hidden: bool = False
    names: list = made(list)


def test_an_operator_has_a_property_for_each_option_that_is_shown():
    declared = properties_from(ToyOptions).__annotations__
    assert list(declared) == ["count", "taste", "tastes", "size", "table", "version"]
    assert declared["count"].keywords["min"] == 1
    assert declared["taste"].keywords["default"] == "SALTY"
    assert declared["taste"].keywords["items"] == declared["tastes"].keywords["items"] == TASTES
    assert declared["size"].keywords["items"] == SIZES
    assert declared["tastes"].keywords["options"] == {"ENUM_FLAG"}
    assert declared["version"].keywords["default"] == "AUTOMATIC"
    assert "search" in declared["table"].keywords


def test_the_options_are_what_is_set_on_the_operator():
    operator = SimpleNamespace(
        count=5, taste="SWEET", tastes={"SALTY", "SWEET"}, size="SMALL", table="//names.json", version="5"
    )
    result = options_from(operator, ToyOptions, hidden=True)
    assert (result.count, result.taste, result.size) == (5, Taste.SWEET, Size.SMALL)
    assert result.tastes == frozenset(Taste)
    assert (result.table, result.hidden, result.names) == (bpy.path.abspath("//names.json"), True, [])
    assert options_from(operator, ToyOptions, count=7).count == 7
    assert (result.version, ToyOptions().version) == (5, None)


def test_options_have_their_defaults_and_do_not_change():
    plain = ToyOptions()
    assert (plain.count, plain.taste, plain.tastes, plain.table) == (3, Taste.SALTY, frozenset({Taste.SWEET}), "")
    assert plain.names is not ToyOptions().names
    with pytest.raises(AttributeError):
        plain.count = 4
    with pytest.raises(TypeError, match="ToyOptions has no field cuont"):
        ToyOptions(cuont=4)


def test_a_class_of_options_has_those_of_its_base_too():
    class More(ToyOptions):
        count: int = option(9, "Count", "How many")
        more: int = 1

    class Both(More, FittingOptions):
        """Of two bases: the first counts where both have a field."""

    assert list(Both.FIELDS) == [*FittingOptions.FIELDS, *More.FIELDS]
    assert (Both().more, Both(degrees=180).tolerance) == (1, (1e-4, math.pi))
    assert list(More.FIELDS) == [*ToyOptions.FIELDS, "more"]
    assert (More().count, ToyOptions().count, More(more=2).more) == (9, 3, 2)


@pytest.mark.parametrize("kind", DECLARED, ids=lambda kind: kind.__name__)
def test_every_choice_is_a_member(kind):
    made_now = kind()
    for name, entry in kind.FIELDS.items():
        if not entry.declared or "items" not in entry.declared:
            continue
        identifiers = [item[0] for item in entry.declared["items"]]
        if entry.value is not None:
            assert getattr(made_now, name) in [entry.value(identifier) for identifier in identifiers]
        else:
            default = next(iter(entry.default)) if isinstance(entry.default, frozenset) else entry.default
            assert identifiers == [member.name for member in type(default)]
