"""The actions of a file that an armature keeps: the file lists them by pointer.

Blender does not report that an action was copied, and a copy has every property of the original, even one that points
at the original itself. But pointers *to* an action tell the two apart, and Blender keeps them correct (measured in 4.2,
4.5 and 5.0):

- copying an action leaves the list unchanged: the copy is in no list
- duplicating an armature together with its action (Shift D) gives the new armature a list with the copy in place of
  the original; actions that do not play are in both lists
- appending an armature appends all listed actions, also if names clash; each armature lists its own
- undo, saving and loading keep the list, see `set_aside_new`; deleting an action leaves an empty entry

So a listed action is the motion at its index in the file. An action in no list is new: it belongs to the file of the
armature that uses it (its own copy), and is never written to the file of another.

When Blender evaluates an object, it copies every action that a property of the object points at, which would double the
memory for keys. It does not do this for properties of texts. So the list is stored in a hidden text, to which the file
on the armature points. The armature itself points only at the listed actions that it uses (plays, or has in the NLA),
which are copied anyway. Blender replaces these pointers when it duplicates the armature with its actions, so they
override the text's entries. A duplicate shares the text with the original until its own list changes.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import bpy
from bpy.props import CollectionProperty, IntProperty, PointerProperty

from ..core import names
from . import compat
from .properties import AddedProperties, changed, is_local
from .typed import Action, Object

_ACTION_OF_ENTRY, _INDEX_OF_ENTRY = attrgetter("action"), attrgetter("index")


class ListedAction(bpy.types.PropertyGroup):
    """An action of a file. ``index`` is the index of its motion in the file, -1 if it is not yet in the file.

    ``row``, for the entries that are on the armature: the index of the entry in the text's list.
    """

    action: PointerProperty(type=bpy.types.Action, options={"HIDDEN"}, update=changed)
    index: IntProperty(default=-1, options={"HIDDEN"}, update=changed)
    row: IntProperty(default=-1, options={"HIDDEN"}, update=changed)


class ActionList(bpy.types.PropertyGroup):
    """The list of a file's actions, stored on a text."""

    entries: CollectionProperty(type=ListedAction)


def label_of(action: Action) -> str:
    """Return the name that lists and reports give an action: that of its motion, else its own.

    Blender adds a number to the name of an action whose name is taken, such as that of another armature's motion.
    """
    return str(action.motionbridge_motion.motion_name) or str(action.name)


def list_property() -> Any:
    """Return the pointer property to the text that stores a file's list."""
    return PointerProperty(type=bpy.types.Text, options={"HIDDEN"}, update=changed)


if TYPE_CHECKING:

    class ActionFile(Protocol):
        """A file on an armature, of any game; see `Kind`."""

        name: str
        action_list: Any

        @property
        def actions(self) -> Any:
            """Collection of `ListedAction`."""

        @property
        def id_data(self) -> Any:
            """The armature object."""


class Kind(NamedTuple):
    """A type of file: names of the file collection on an armature object and of the file properties of an action.

    A file has ``name``, the collection ``actions`` of `ListedAction` and ``action_list`` (a `list_property`); an action
    has ``file`` (a file's name) and ``index``.
    """

    files: str
    action: str

    def properties(self, action: bpy.types.Action) -> Any:
        """Return an action's properties about its file."""
        return getattr(action, self.action)

    def files_of(self, rig: bpy.types.Object) -> Any:
        """Return the file collection of an armature object."""
        return getattr(rig, self.files)


def _unchanged(_context: Any, _rig: Any, action: Any) -> Any:
    return action


before_playing: Callable[[Any, Any, Any], Any] = _unchanged
"""Called before an armature plays another action, with the context, the armature object and the action; returns the
action to play. The games set it, so that keys follow renamed bones (`games.renamed_bones`).
"""


def _no_motion(_action: Any) -> bool:
    return False


is_motion: Callable[[Any], bool] = _no_motion
"""Whether an action is a motion of a game, and not only an NLA layer on one. The games set it."""


def members(file: "ActionFile", kind: Kind) -> dict[Any, int]:
    """Return the actions of a file of an armature, each with its index in the file; -1 for new ones.

    First the listed actions, then copies that the armature uses (plays, or has in the NLA) and that are in no list.
    """
    result = listed(file)
    result.update(dict.fromkeys(_copies_in_use(file, kind), -1))
    return result


def _copies_in_use(file: "ActionFile", kind: Kind) -> list[Action]:
    """Return the actions that a file's armature uses, whose properties name this file, and that no file lists."""
    used = used_by(file.id_data)
    return [action for action in used if kind.properties(action).file == file.name and not is_listed(action, kind)]


def listed(file: "ActionFile") -> dict[Any, int]:
    """Return the actions that a file lists, each with its index in the file."""
    return {action: index for action, index in _entries(file) if action is not None}


def pointers(file: "ActionFile") -> list[Action]:
    """Return the actions that a file lists, in list order; None for deleted ones."""
    result = list(map(_ACTION_OF_ENTRY, _rows(file)))
    for used in file.actions if file.action_list is not None else ():
        if 0 <= used.row < len(result):
            result[used.row] = used.action
    return result


def length(file: "ActionFile") -> int:
    """Return the number of entries in a file's list."""
    return len(_rows(file))


def _rows(file: "ActionFile") -> Any:
    return file.actions if file.action_list is None else file.action_list.motionbridge_actions.entries


def _entries(file: "ActionFile") -> list[tuple[Any, int]]:
    """Return the listed actions (None for deleted ones) with their indices in the file, in list order."""
    return list(zip(pointers(file), map(_INDEX_OF_ENTRY, _rows(file)), strict=True))


def files_of_actions(rig: Object, kind: Kind) -> dict[Any, Any]:
    """Return action -> file for the files of ``rig``; if several list an action, the file that the action names."""
    result: dict[Any, Any] = {}
    for file in kind.files_of(rig):
        for action in members(file, kind):
            if action not in result or kind.properties(action).file == file.name:
                result[action] = file
    return result


def file_of(rig: Object, action: Action, kind: Kind) -> Any:
    """Return the file of ``rig`` that an action belongs to, or None. For many actions use `files_of_actions`."""
    files = sorted(kind.files_of(rig), key=lambda file: file.name != kind.properties(action).file)
    listing = next((file for file in files if _is_in_list(file, action, kind)), None)
    return listing or next((file for file in files if action in _copies_in_use(file, kind)), None)


def is_listed(action: Action, kind: Kind) -> bool:
    """Whether a file of any armature lists an action."""
    key = kind.properties(action).file
    files = [file for rig in _rigs() for file in kind.files_of(rig)]
    # The file that the action names comes first: nearly always that one lists it.
    return any(_is_in_list(file, action, kind) for file in sorted(files, key=lambda file: file.name != key))


def _is_in_list(file: "ActionFile", action: Action, kind: Kind) -> bool:
    """Whether a file lists an action. Fast, because panels call it at every redraw: most lists have the order of the
    file.
    """
    used = {entry.row: entry.action for entry in file.actions} if file.action_list is not None else {}
    if action in used.values():
        return True
    rows = _rows(file)
    index = kind.properties(action).index
    if 0 <= index < len(rows) and index not in used and rows[index].action == action:
        return True
    return action in pointers(file)


def copies(actions: Sequence[Action], kind: Kind) -> dict[Any, Any]:
    """Return those of ``actions`` whose properties name a motion of a file, but that are copies made in Blender.

    Maps each to the original, or to None if no list contains that any more.
    """
    claiming = [action for action in actions if kind.properties(action).file and kind.properties(action).index >= 0]
    if len(claiming) == 1 and is_listed(claiming[0], kind):
        return {}
    known: dict[Any, tuple[str, int]] = {}
    for rig in _rigs() if claiming else ():
        for file in kind.files_of(rig):
            known |= {action: (file.name, index) for action, index in listed(file).items()}
    originals = {where: action for action, where in reversed(known.items())}
    return {
        action: originals.get((kind.properties(action).file, kind.properties(action).index))
        for action in claiming
        if action not in known
    }


def unlisted(rig: bpy.types.Object, kind: Kind) -> list[tuple[Any, Any]]:
    """Return (file, action) for copies that an armature uses and no file lists; empty if it is not editable."""
    if not is_local(rig):
        return []
    return [(file, action) for file in kind.files_of(rig) for action in _copies_in_use(file, kind)]


def used_by(owner: Any) -> list[Action]:
    """Return the actions that a data-block plays or has in the NLA."""
    data = owner.animation_data
    if data is None:
        return []
    strips = [strip.action for track in data.nla_tracks for strip in track.strips]
    return [action for action in dict.fromkeys([data.action, *strips]) if action is not None]


def replace_used(owner: Any, copies: Mapping[Any, Any]) -> None:
    """Let a data-block play, and have in the NLA, ``copies`` (original -> copy) instead of the originals."""
    data = owner.animation_data
    if data is None:
        return
    if data.action in copies:
        compat.assign(owner, copies[data.action])
    for strip in (strip for track in data.nla_tracks for strip in track.strips):
        if strip.action in copies:
            strip.action = copies[strip.action]


def own(rig: Object, action: Action, kind: Kind) -> Action:
    """Return ``action``; if a file lists it, return a copy, which ``rig`` now uses instead.

    Call it before an action becomes a motion of another file, for an action that no other file of ``rig`` lists: an
    action can name only one file, and so stays in that of the other armature.
    """
    if not is_listed(action, kind):
        return action
    copy = action.copy()
    copy.use_fake_user = action.use_fake_user
    replace_used(rig, {action: copy})
    return copy


def start_list(file: "ActionFile") -> None:
    """Create the empty action list of a new file."""
    replace(file, ())


def add(file: "ActionFile", action: Action, index: int) -> None:
    """Append an action to a file's list, with its index in the file (-1 if it is not yet in the file).

    If the armature already uses the action, call `hold_used` afterwards.
    """
    if not _owns_list(file):
        replace(file, _entries(file))
    _add_entry(file.action_list.motionbridge_actions.entries, action, index)


def remove(file: "ActionFile", action: Action) -> None:
    """Remove an action from a file's list. Its motion stays in the file."""
    replace(file, [entry for entry in _entries(file) if entry[0] not in {action, None}])


def replace(file: "ActionFile", chosen: Iterable[tuple[Any, int]]) -> None:
    """Replace a file's list with these actions and indices."""
    chosen = list(chosen)
    if not _owns_list(file):
        file.action_list = _new_text(file.name)
    rows = file.action_list.motionbridge_actions.entries
    rows.clear()
    file.actions.clear()
    for action, index in chosen:
        _add_entry(rows, action, index)
    _store_used(file, _used_rows(file))


def _new_text(name: str) -> bpy.types.Text:
    """Create a text whose name begins with a dot, so that Blender's lists hide it."""
    text: bpy.types.Text = bpy.data.texts.new(f".{names.shortened(name)}")
    # A new text has a user from the start; without it the text is saved as long as an armature uses it.
    text.user_clear()
    # Without a custom property 5.0 skips the text when an action is removed or remapped: pointers in it would dangle.
    text["motionbridge"] = 1
    return text


def _add_entry(rows: Any, action: Action, index: int, row: int = -1) -> None:
    entry = rows.add()
    entry.action, entry.index, entry.row = action, index, row


def _owns_list(file: "ActionFile") -> bool:
    """Whether no other file shares this file's list text. A duplicated armature shares the text of the original."""
    text = file.action_list
    return text is not None and is_local(text) and text.users == 1


def hold_used(rig: bpy.types.Object, kind: Kind) -> None:
    """Store on an armature pointers to the listed actions that it uses, so that a duplicate lists its own copies of
    them.

    Call it after actions were assigned to the armature, or after actions that it uses were listed.
    """
    for file in kind.files_of(rig) if is_local(rig) else ():
        if file.action_list is None:
            continue
        used = _used_rows(file)
        if used == [(entry.row, entry.action, entry.index) for entry in file.actions]:
            continue
        rows = file.action_list.motionbridge_actions.entries
        if all(entry.row < len(rows) and entry.action == rows[entry.row].action for entry in file.actions):
            _store_used(file, used)
        else:
            replace(file, _entries(file))


def _used_rows(file: "ActionFile") -> list[tuple[int, Any, int]]:
    """Return row, action and index in the file of the listed actions that a file's armature uses."""
    used = set(used_by(file.id_data))
    return [(row, action, index) for row, (action, index) in enumerate(_entries(file)) if action in used]


def _store_used(file: "ActionFile", used: Sequence[tuple[int, Any, int]]) -> None:
    # The copy that Blender evaluates would go on pointing at the actions of these entries, which may be removed next.
    file.id_data.update_tag()
    file.actions.clear()
    for row, action, index in used:
        _add_entry(file.actions, action, index, row)


def _rigs() -> list[Any]:
    return [owner for owner in bpy.data.objects if owner.type == "ARMATURE"]


# Undo -----------------------------------------------------------------------------------------------------------------

_set_aside: list[tuple[int, int, int]] = []
"""Text, row and action of each cleared entry; text and action by session id."""


def set_aside_new(*_: Any) -> None:
    """Before undo and redo: clear the pointers to actions that are new in their list.

    A copy is listed a moment after it was made, outside any undo step. If the text is equal in two steps, Blender keeps
    it in memory as it is, and it would still point at an action that no longer exists.
    """
    _set_aside.clear()
    texts: Any = bpy.data.texts
    for text in filter(is_local, texts):
        entries = text.motionbridge_actions.entries
        indices = [0] * len(entries)
        entries.foreach_get("index", indices)
        for row, index in enumerate(indices):
            if index < 0 and entries[row].action is not None:
                _set_aside.append((text.session_uid, row, entries[row].action.session_uid))
                entries[row].action = None


def put_back_new(*_: Any) -> None:
    """After undo and redo: restore these pointers in lists that Blender kept, for actions that still exist."""
    texts: Any = {text.session_uid: text for text in bpy.data.texts} if _set_aside else {}
    actions = {action.session_uid: action for action in bpy.data.actions} if _set_aside else {}
    for text, row, action in _set_aside:
        entries = texts[text].motionbridge_actions.entries if text in texts else ()
        if row < len(entries) and entries[row].index < 0 and entries[row].action is None:
            entries[row].action = actions.get(action)
    _set_aside.clear()


ADDED = AddedProperties(
    (ListedAction, ActionList),
    {(bpy.types.Text, "motionbridge_actions"): PointerProperty(type=ActionList)},
    (
        ("undo_pre", set_aside_new),
        ("redo_pre", set_aside_new),
        ("undo_post", put_back_new),
        ("redo_post", put_back_new),
    ),
)
