"""The dialog of an export as the file browser has it: an operator's functions and default options, without Blender's
operator.
"""

import bpy

from addon.core.report import Report


class Dialog:
    """An operator with its functions and the defaults of its properties."""

    def __init__(self, operator, **properties):
        group, _, name = operator.bl_idname.partition(".")
        for option in getattr(getattr(bpy.ops, group), name).get_rna_type().properties:
            if option.identifier not in {"rna_type", "bl_idname"} and hasattr(option, "default"):
                flags = getattr(option, "is_enum_flag", False)
                setattr(self, option.identifier, set(option.default_flag) if flags else option.default)
        for name, value in properties.items():
            setattr(self, name, value)
        for kind in reversed(operator.__mro__):
            if kind.__module__.startswith("addon") or "motionbridge" in kind.__module__:
                for name, value in vars(kind).items():
                    if not name.startswith("__") and not isinstance(value, classmethod):
                        bound = value.__get__(self) if callable(value) and not isinstance(value, type) else value
                        setattr(self, name, bound)

    def left_out(self):
        """What the dialog says that is not written."""
        report = Report()
        self.warn_of_left_out(bpy.context, report)
        return report
