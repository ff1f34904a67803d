"""Configs of the samples: sections of hands and a weapon, Anomaly's changes, and every form of line."""

from __future__ import annotations

SYSTEM = """\
; the configs of the samples
#include "w_sample.ltx"

[actor_hud]
visual\t\t= samples\\humanoid
ancor_0\t\t= hand_r\t; where a weapon is
ancor_1\t\t= hand_l
"""

WEAPON = """\
[hud_base]
aim_hud_offset_pos = 0,0,0
aim_hud_offset_rot = 0,0,0
aim_hud_offset_pos_16x9 = 0,0,0
aim_hud_offset_rot_16x9 = 0,0,0

[wpn_sample] // a weapon
$spawn          = "weapons\\sample; one"
hud             = wpn_sample_hud
inv_name        = "Образец"\t; its name

[wpn_sample_hud]:hud_base
item_visual             = samples\\weapon.ogf
attach_place_idx        = 0
hands_position          = 0.02, -0.1 5, 0.05    ; a blank inside of a number
hands_position_16x9     = 0.03, -0.15, 0.05
hands_orientation       = 2, -1, 3
hands_orientation_16x9  = 2, -1, 3
item_position           = 0, 0.01, 0
item_orientation        = 0, 5, 0
aim_hud_offset_pos      = -0.05, 0.03, -0.08
aim_hud_offset_rot      = 0.01, 0.04, -0.1
fire_bone               = wpn_body
fire_point              = 0, 0.06, 0.43

anm_idle                = walk, idle
anm_reload              = wave, reload
anm_shots               = walk, shoot
"""

CHANGES = """\
![wpn_sample_hud]
anm_bore = walk
!fire_point
>anm_reload = 1.5
"""


def configs() -> dict[str, bytes]:
    """Return file name -> bytes of every file."""
    return {
        "system.ltx": SYSTEM.encode("ascii"),
        "w_sample.ltx": WEAPON.replace("\n", "\r\n").encode("cp1251"),
        "mod_system_sample.ltx": CHANGES.encode("ascii"),
    }
