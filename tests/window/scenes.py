"""Every scene, by name."""

from tests.window import (
    arma_tools,
    controls,
    exports,
    from_game,
    hud,
    identity,
    imports,
    jobs,
    long_work,
    manual,
    new_models,
    playing,
    retargeting,
    spreading,
)

SCENES = [
    *imports.SCENES,
    *exports.SCENES,
    *identity.SCENES,
    *from_game.SCENES,
    *long_work.SCENES,
    *hud.SCENES,
    *new_models.SCENES,
    *controls.SCENES,
    *manual.SCENES,
    *playing.SCENES,
    *retargeting.SCENES,
    *spreading.SCENES,
    *jobs.SCENES,
    *arma_tools.SCENES,
]
