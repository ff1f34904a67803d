"""The file's own bytes, kept with the data-block they became, so that what nobody touched can leave as it came.

Bytes live in a hidden ``BYTE_STRING`` property: it survives zeros, copying, saving, reloading and newer Blenders.
"""

from __future__ import annotations

from typing import Any

from bpy.props import EnumProperty, StringProperty

STATUS_ITEMS = (
    ("UNKNOWN", "Not Compared", "Not compared with its file since it was imported", "NONE", 0),
    ("UNTOUCHED", "Untouched", "Exactly what its file has", "CHECKMARK", 1),
    ("EDITED", "Edited", "Differs from what its file has", "GREASEPENCIL", 2),
    ("NEW", "New", "Not in the file yet", "ADD", 3),
)


def bytes_property(description: str) -> Any:
    """A property that holds bytes. Read and write it through `kept` and `keep`."""
    return StringProperty(description=description, subtype="BYTE_STRING", options={"HIDDEN"})


def status_property(description: str) -> Any:
    """A property that says whether something still is what its file says."""
    return EnumProperty(name="Status", items=STATUS_ITEMS, description=description)


def keep(owner: Any, name: str, data: bytes | memoryview) -> None:
    """Store ``data`` in a property made by `bytes_property`."""
    setattr(owner, name, bytes(data))


def kept(owner: Any, name: str) -> bytes:
    """The bytes of a property made by `bytes_property`; empty where nothing was stored."""
    # Asked as an item it is copied once, as a property three times; which is felt with tens of megabytes.
    data = owner.get(name)
    if data is None:
        data = getattr(owner, name)
    return data if isinstance(data, bytes) else bytes(str(data), "utf-8", "surrogateescape")
