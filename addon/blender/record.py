"""The file's own bytes, kept with the data-block they became, so that unedited data is exported byte for byte.

Bytes live in a hidden ``BYTE_STRING`` property: it survives zeros, copying, saving, reloading and newer Blenders. A
second property beside it holds the version of the data and a digest, which tells bytes that something else has cut or
changed. It is missing beside data of Motionbridge 0.1.0, which is accepted as it is.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from bpy.props import EnumProperty, StringProperty

from ..core.errors import ReadError
from .freshness import changed

DATA_VERSION = 1
"""What the stored bytes mean; data of 0.1.0 means the same and has no number."""
_SEAL = "{}_seal"
_DIGEST_SIZE = 16

STATUS_ITEMS = (
    ("UNKNOWN", "Not Compared", "Not compared with its file since import", "NONE", 0),
    ("UNTOUCHED", "Unchanged", "Same as in its file", "CHECKMARK", 1),
    ("EDITED", "Edited", "Differs from its file", "GREASEPENCIL", 2),
    ("NEW", "New", "Not in the file yet", "ADD", 3),
)


def bytes_property(description: str) -> Any:
    """A property that holds bytes. Read and write it through `kept` and `keep`; it needs a `seal_property`."""
    return StringProperty(description=description, subtype="BYTE_STRING", options={"HIDDEN"})


def seal_property() -> Any:
    """The version and digest of a `bytes_property`: stands beside it under the same name with ``_seal`` added."""
    return StringProperty(subtype="BYTE_STRING", options={"HIDDEN"})


def status_property(description: str) -> Any:
    """A property that says whether something still is what its file says; lists show it."""
    return EnumProperty(name="Status", items=STATUS_ITEMS, description=description, update=changed)


def keep(owner: Any, name: str, data: bytes | bytearray | memoryview) -> None:
    """Store ``data`` in a property made by `bytes_property`, and its version and digest beside it."""
    data = bytes(data)
    setattr(owner, name, data)
    setattr(owner, _SEAL.format(name), _seal(data))


def drop(owner: Any, name: str) -> None:
    """Forget what `keep` stored."""
    owner.property_unset(name)
    owner.property_unset(_SEAL.format(name))


def is_sealed(owner: Any, name: str) -> bool:
    """Whether what `keep` stored has a digest: only data of Motionbridge 0.1.0 has none."""
    return bool(_stored(owner, _SEAL.format(name)))


def kept(owner: Any, name: str) -> bytes:
    """The bytes of a property made by `bytes_property`; empty where nothing was stored.

    Raises `ReadError` where they are not what was stored, or were stored by a newer Motionbridge.
    """
    data, seal = _stored(owner, name), _stored(owner, _SEAL.format(name))
    if not seal or seal == _seal(data):
        return data
    if len(seal) == 1 + _DIGEST_SIZE and seal[0] > DATA_VERSION:
        remedy = "Update Motionbridge, or import the file again"
        raise ReadError("the file data was stored by a newer Motionbridge", file=owner.id_data.name, remedy=remedy)
    raise ReadError(
        f"the stored file data is damaged ({len(data)} bytes with a wrong checksum)",
        file=owner.id_data.name,
        remedy="Import the file again",
    )


def _stored(owner: Any, name: str) -> bytes:
    # Asked as an item it is copied once, as a property three times; which is felt with tens of megabytes.
    data = owner.get(name)
    if data is None:
        data = getattr(owner, name)
    return data if isinstance(data, bytes) else bytes(str(data), "utf-8", "surrogateescape")


def _seal(data: bytes) -> bytes:
    return bytes([DATA_VERSION]) + blake2b(data, digest_size=_DIGEST_SIZE).digest()
