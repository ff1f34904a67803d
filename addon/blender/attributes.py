"""`Attribute` -> attribute of a Blender mesh, and back: a row a vertex or a face."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.model import Attribute, Domain
from ..core.report import Report

DOMAINS = {Domain.VERTEX: "POINT", Domain.FACE: "FACE"}
Wanted = Mapping[str, tuple[Domain, Any]]
"""Name -> whose values are asked for, and their type (``np.bool_``, ``np.int32``, ``np.float32``)."""

_KINDS: dict[tuple[Any, int], tuple[str, str]] = {
    (np.dtype(np.bool_), 1): ("BOOLEAN", "value"),
    (np.dtype(np.int32), 1): ("INT", "value"),
    (np.dtype(np.float32), 1): ("FLOAT", "value"),
    (np.dtype(np.float32), 2): ("FLOAT2", "vector"),
    (np.dtype(np.float32), 3): ("FLOAT_VECTOR", "vector"),
    (np.dtype(np.float32), 4): ("FLOAT_COLOR", "color"),
}
_COLOURS = ("FLOAT_COLOR", "BYTE_COLOR")
_READABLE: dict[str, Any] = {"BOOLEAN": np.bool_, "INT": np.int32, "FLOAT": np.float32}


def build(data: Any, attributes: Mapping[str, Attribute], shown: NDArray[np.bool_] | None = None) -> None:
    """Give a mesh these attributes. ``shown`` (faces,) which faces it really has, None for all of them."""
    for name, attribute in attributes.items():
        values = attribute.values
        if shown is not None and attribute.domain is Domain.FACE:
            values = values[shown]
        width = 1 if values.ndim == 1 else values.shape[1]
        kind, field = _KINDS[values.dtype, width]
        made = data.attributes.new(name, kind, DOMAINS[attribute.domain])
        made.data.foreach_set(field, np.ascontiguousarray(values).ravel())


def gather(data: Any, name: str, domain: Domain, kind: Any) -> NDArray[Any] | None:
    """The values of an attribute as ``kind``; None where there is none of that name on vertices or faces as asked."""
    stored = _stored(data, name, domain, _READABLE)
    if stored is None:
        return None
    values = np.empty(len(stored.data), _READABLE[stored.data_type])
    if len(values):
        stored.data.foreach_get("value", values)
    return values.astype(kind, copy=False)


def gather_colours(data: Any, name: str, domain: Domain) -> NDArray[np.float32] | None:
    """The values (n, 4) of an attribute of four numbers; None where there is none of that name as asked."""
    stored = _stored(data, name, domain, _COLOURS)
    if stored is None:
        return None
    values = np.empty((len(stored.data), 4), np.float32)
    if len(values):
        stored.data.foreach_get("color", values.reshape(-1))
    return values


def _stored(data: Any, name: str, domain: Domain, kinds: Container[str]) -> Any:
    stored = data.attributes.get(name)
    return stored if stored is not None and stored.domain == DOMAINS[domain] and stored.data_type in kinds else None


def warn_of_misfits(shown: Any, wanted: Wanted, report: Report, colours: Iterable[str] = ()) -> None:
    """Say which attributes of a mesh have a name that is ``wanted`` and are not gathered: of another type or domain.

    ``colours`` are wanted on faces with four numbers.
    """
    asked: list[tuple[str, Domain, Container[str]]] = [
        (name, domain, _READABLE) for name, (domain, _) in wanted.items()
    ]
    asked += [(name, Domain.FACE, _COLOURS) for name in colours]
    there = shown.data.attributes
    for name, domain, kinds in asked:
        if there.get(name) is not None and _stored(shown.data, name, domain, kinds) is None:
            told = f"the attribute {name!r} is of another type or domain than is wanted: it does not count"
            report.warn(told, shown.name)


def write(data: Any, name: str, domain: Domain, values: NDArray[Any]) -> None:
    """Set an attribute's values, making it where it is not there or of another kind."""
    kind, field = _KINDS[values.dtype, 1 if values.ndim == 1 else values.shape[1]]
    stored = data.attributes.get(name)
    if stored is not None and (stored.domain, stored.data_type) != (DOMAINS[domain], kind):
        data.attributes.remove(stored)
        stored = None
    if stored is None:
        stored = data.attributes.new(name, kind, DOMAINS[domain])
    stored.data.foreach_set(field, np.ascontiguousarray(values).ravel())
