"""Skeletons and motions of other programs for tests: a BVH reader, and bodies of any naming scheme, pose and roll."""

import json

import numpy as np

from addon.core import rotation
from addon.core.bone_map import Rig
from addon.core.model import absolute

JOINTS = {
    "hips": ("", (0, 0, 0.95)),
    "spine1": ("hips", (0, 0.01, 1.05)),
    "spine2": ("spine1", (0, 0.02, 1.18)),
    "chest": ("spine2", (0, 0.02, 1.31)),
    "neck": ("chest", (0, 0.0, 1.50)),
    "head": ("neck", (0, -0.02, 1.60)),
    "clavicle": ("chest", (0.03, 0.0, 1.46)),
    "upper_arm": ("clavicle", (0.18, 0.01, 1.45)),
    "forearm": ("upper_arm", (0.47, 0.03, 1.45)),
    "hand": ("forearm", (0.72, 0.0, 1.45)),
    **{
        f"{finger}{joint}": (f"{finger}{joint - 1}" if joint > 1 else "hand", (0.75 + out + 0.03 * joint, y, 1.44))
        for finger, out, y in (
            ("thumb", -0.03, -0.04), ("index", 0.03, -0.03), ("middle", 0.035, 0.0), ("ring", 0.03, 0.02),
            ("pinky", 0.025, 0.04),
        )
        for joint in (1, 2, 3)
    },
    "thigh": ("hips", (0.09, 0, 0.92)),
    "shin": ("thigh", (0.10, -0.03, 0.50)),
    "foot": ("shin", (0.10, 0.02, 0.09)),
    "toe": ("foot", (0.11, -0.13, 0.02)),
}  # fmt: skip
"""Joint -> its parent and its head in a T pose, metres; it faces -y, and of pairs the left one."""
MIDDLE = ("hips", "spine1", "spine2", "chest", "neck", "head")


def joints():
    """Names, parents and heads of the body's joints, both sides."""
    names, parents, heads = [], [], []
    for side in ("", ".L", ".R"):
        for joint, (above, head) in JOINTS.items():
            if (joint in MIDDLE) is (side == ""):
                names.append(joint + side)
                parents.append(above + side if above and above not in MIDDLE else above)
                heads.append(np.array(head) * (-1.0 if side == ".R" else 1.0, 1.0, 1.0))
    order = {name: index for index, name in enumerate(names)}
    return names, np.array([order.get(above, -1) for above in parents], np.int32), np.array(heads)


def pointing(parents, heads, random=None):
    """Rest matrices whose y axes point to the first child; with ``random`` any roll, of leaves any direction."""
    rest = np.broadcast_to(np.eye(4), (len(heads), 4, 4)).copy()
    for bone, head in enumerate(heads):
        below = [child for child in range(len(heads)) if parents[child] == bone]
        along = heads[below[0]] - head if below else np.array([0.0, 0.0, 0.1])
        if np.linalg.norm(along) < 1e-6:
            along = np.array([0.0, 0.0, 0.1])
        along = along / np.linalg.norm(along)
        aside = random.normal(size=3) if random is not None else np.array([0.3, 0.2, 1.0])
        x = np.cross(along, aside)
        x /= np.linalg.norm(x)
        rest[bone, :3, :3], rest[bone, :3, 3] = np.stack([x, along, np.cross(x, along)], axis=-1), head
    return rest


def body(random=None, lower_arms=0.0, naming=None):
    """A `Rig` of the body: ``lower_arms`` (radians) from a T pose; ``naming``: joint -> name, joints without are left
    out.
    """
    names, parents, heads = joints()
    heads = posed_heads(names, parents, heads, arms_lowered(names, lower_arms))
    rest = pointing(parents, heads, random)
    rig = Rig(names, parents, rest)
    return rig if naming is None else renamed(rig, naming)


def arms_lowered(names, angle):
    """World rotations (bones, 3, 3) of a pose with lowered arms."""
    result = np.broadcast_to(np.eye(3), (len(names), 3, 3)).copy()
    for bone, name in enumerate(names):
        joint, _, side = name.partition(".")
        if joint not in {"clavicle", "thigh", "shin", "foot", "toe"} and side:
            signed = angle if side == "L" else -angle
            result[bone] = rotation.matrices(rotation.about_axis(1, np.float64(signed)))
    return result


def posed_heads(names, parents, heads, turned):
    """Heads (bones, 3) after each bone was turned by a world rotation (bones, 3, 3)."""
    result = heads.copy()
    for bone in range(len(names)):
        above = parents[bone]
        if above >= 0:
            result[bone] = result[above] + turned[above] @ (heads[bone] - heads[above])
    return result


def renamed(rig, naming):
    """The same rig with other names, and without joints that have none."""
    kept = [bone for bone, name in enumerate(rig.names) if naming.get(name)]
    order = {bone: index for index, bone in enumerate(kept)}
    parents = []
    for bone in kept:
        above = rig.parents[bone]
        while above >= 0 and above not in order:
            above = rig.parents[above]
        parents.append(order.get(above, -1))
    return Rig([naming[rig.names[bone]] for bone in kept], np.array(parents, np.int32), rig.rest[kept])


def walk(rig, frames=60, seed=0):
    """A made-up walk (frames, bones, 4, 4) of a `body` in a T pose: turning joints, and one foot that stands."""
    random = np.random.default_rng(seed)
    time = np.arange(frames) / 30.0
    local = np.broadcast_to(np.eye(4), (frames, len(rig.names), 4, 4)).copy()
    relative = rig.rest.copy()
    for bone, above in enumerate(rig.parents):
        if above >= 0:
            relative[bone] = np.linalg.inv(rig.rest[above]) @ rig.rest[bone]
    for bone, name in enumerate(rig.names):
        joint, _, side = name.partition(".")
        phase = np.pi if side == "R" else 0.0
        axis, size, middle = random.normal(size=3), 0.15, 0.0
        if joint in {"thigh", "shin", "forearm", "upper_arm", "foot"}:
            axis = np.array([1.0, 0.0, 0.0]) if joint != "forearm" else np.array([0.0, 0.0, 1.0])
            size, middle = {"thigh": (0.4, 0.2), "shin": (0.4, -0.45), "foot": (0.1, 0.1)}.get(joint, (0.3, 0.3))
            size, middle = (-size, -middle) if joint in {"thigh", "shin"} else (size, middle)
            middle = -middle if side == "R" and joint == "forearm" else middle
        axis = rig.rest[bone, :3, :3].T @ (axis / np.linalg.norm(axis))
        half = (middle + size * np.sin(2 * np.pi * time + phase)) / 2
        turned = np.concatenate([np.cos(half)[:, None], np.sin(half)[:, None] * axis], axis=1)
        local[:, bone, :3, :3] = rotation.matrices(turned)
    local = relative @ local
    poses = absolute(local.swapaxes(0, 1), rig.parents).swapaxes(0, 1)
    # The body moves so that the lower foot stays where it is.
    feet = poses[:, [rig.names.index("foot.L"), rig.names.index("foot.R")]][..., :3, 3]
    lower = feet[..., 2].argmin(axis=1)
    steps = -np.diff(feet, axis=0)[np.arange(frames - 1), lower[1:]]
    travel = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
    travel[:, 2] = 0.09 - feet[..., 2].min(axis=1)
    poses[..., :3, 3] += travel[:, None]
    return poses


# Files ----------------------------------------------------------------------------------------------------------------


def read_bvh(path):
    """A `Rig`, poses (frames, bones, 4, 4) and frames per second of a BVH file, z up, in its units."""
    text, _, table = path.read_text().partition("MOTION")
    names, parents, offsets, channels = _joints_of(text)
    lines = table.split("\n")
    rate = 1.0 / float(next(line for line in lines if line.startswith("Frame Time")).split()[-1])
    values = np.array([line.split() for line in lines if line[:1] in "-0123456789" and line], np.float64)
    local = np.broadcast_to(np.eye(4), (len(names), len(values), 4, 4)).copy()
    local[..., :3, 3] = offsets[:, None]
    columns = iter(values.T)
    for bone, own in enumerate(channels):
        for channel in own:
            axis = "XYZ".index(channel[0])
            if channel.endswith("position"):
                local[bone, :, axis, 3] += next(columns)
            else:
                turned = rotation.about_axis(axis, np.radians(next(columns)))
                local[bone, :, :3, :3] = local[bone, :, :3, :3] @ rotation.matrices(turned)
    upright = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    rest = np.broadcast_to(np.eye(4), (len(names), 4, 4)).copy()
    rest[:, :3, 3] = offsets
    poses = upright @ absolute(local, parents).swapaxes(0, 1)
    return Rig(names, parents, upright @ absolute(rest, parents)), poses, rate


def _joints_of(text):
    """Names, parents, offsets and channels of the joints that the first part of a BVH file declares."""
    names, parents, offsets, channels, stack = [], [], [], [], []
    joint = -1
    for words in map(str.split, text.split("\n")):
        match words:
            case ["ROOT" | "JOINT", name]:
                joint = len(names)
                names.append(name)
                parents.append(stack[-1] if stack else -1)
            case ["End", *_]:
                joint = -1
            case ["{"]:
                stack.append(joint)
            case ["}"]:
                stack.pop()
            case ["OFFSET", *numbers] if joint >= 0:
                offsets.append([float(number) for number in numbers])
            case ["CHANNELS", _, *own]:
                channels.append(own)
    return names, np.array(parents, np.int32), np.array(offsets), channels


def naming_of(vectors, scheme):
    """Joint -> name of a scheme of the table of bone names; none for joints that it does not name."""
    table = json.loads((vectors / "rigs" / "bone_names.json").read_bytes())["bones"]
    return {joint: own[scheme].split(" (")[0] for joint, own in table.items() if scheme in own}


def _depth_first(rig):
    """The bones, each followed by all that are below it."""
    waiting, result = np.flatnonzero(rig.parents < 0).tolist()[::-1], []
    while waiting:
        result.append(waiting.pop())
        waiting += np.flatnonzero(rig.parents == result[-1]).tolist()[::-1]
    return result


def write_bvh(path, rig, poses, rate):
    """Write poses (frames, bones, 4, 4) of a `Rig`, z up, as a BVH file, y up."""
    lying = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
    heads = rig.heads @ lying.T
    turned = lying @ poses[..., :3, :3] @ rig.rest[:, :3, :3].swapaxes(1, 2) @ lying.T
    table, lines, stack = [], ["HIERARCHY"], []
    for bone in _depth_first(rig):
        above = rig.parents[bone]
        while stack and stack[-1] != above:
            lines.append("}")
            stack.pop()
        offset = heads[bone] - (heads[above] if above >= 0 else 0.0)
        moves = "Xposition Yposition Zposition " if above < 0 else ""
        lines += [f"{'JOINT' if stack else 'ROOT'} {rig.names[bone]}", "{", "OFFSET {} {} {}".format(*offset.tolist())]
        lines.append(f"CHANNELS {6 if above < 0 else 3} {moves}Zrotation Xrotation Yrotation")
        if not (rig.parents == bone).any():
            lines += ["End Site", "{", "OFFSET 0 0.05 0", "}"]
        if above < 0:
            table += [*(poses[:, bone, :3, 3] @ lying.T - heads[bone]).T]
        local = turned[:, bone] if above < 0 else turned[:, above].swapaxes(1, 2) @ turned[:, bone]
        z = np.arctan2(-local[:, 0, 1], local[:, 1, 1])
        x = np.arcsin(np.clip(local[:, 2, 1], -1.0, 1.0))
        table += [np.degrees(angle) for angle in (z, x, np.arctan2(-local[:, 2, 0], local[:, 2, 2]))]
        stack.append(bone)
    lines += ["}"] * len(stack)
    lines += ["MOTION", f"Frames: {len(poses)}", f"Frame Time: {1.0 / rate:.8f}"]
    lines += [" ".join(f"{value:.6f}" for value in row) for row in np.array(table).T.tolist()]
    path.write_text("\n".join(lines) + "\n")
