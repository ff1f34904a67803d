"""Every scene, by name."""

from tests.window import exports, identity, imports

SCENES = [*imports.SCENES, *exports.SCENES, *identity.SCENES]
