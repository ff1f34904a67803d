"""First person: hands, weapon and camera as the game composes them."""

from typing import Any

from .... import lazy

lazy.attach(__name__)

from ....blender.properties import nearest_above
from ....blender.typed import Object


def _above(part: Object) -> Any:
    """The hands that an empty above them carries, else the parent."""
    hands = part.motionbridge_hud.hands
    return hands if hands is not None and hands.motionbridge_hud.is_hud else part.parent


def holder_of(shown: Any) -> Any:
    """The armature of the hands that a part of a first-person scene belongs to, or None."""
    return nearest_above(shown, lambda one: bool(one.motionbridge_hud.is_hud), _above)
