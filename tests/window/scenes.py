"""Every scene, by name."""

from tests.window import imports

SCENES = [*imports.SCENES]
