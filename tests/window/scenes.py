"""Every scene, by name."""

from tests.window import exports, hud, identity, imports, long_work

SCENES = [*imports.SCENES, *exports.SCENES, *identity.SCENES, *long_work.SCENES, *hud.SCENES]
