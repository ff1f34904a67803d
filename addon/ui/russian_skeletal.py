"""Russian texts about the editor's motions and bone properties, by the English of the source."""

from __future__ import annotations

SKELETAL: dict[str, str] = {
    "6, with Marks 7": "6, с метками 7",
    "All of Its File": "Все из его файла",
    "Angles, as the editor keeps them; curves stay curves": "Углы, как в редакторе; кривые остаются кривыми",
    "Bone properties on {}, bones: {}": "Свойства костей на {}: костей {}",
    "Bones with the file's curves: {}, fitted: {}": "Костей с кривыми файла: {}, приближено: {}",
    "Editor Motion": "Анимация редактора",
    "Euler ZXY": "Эйлер ZXY",
    "Every action that came from the same file as the one that plays": (
        "Все действия из того же файла, что и играющее"
    ),
    "Every editor reads it; handles in steps of 0.98 ms and 0.98 mm": (
        "Читает любой редактор; рукоятки с шагом 0,98 мс и 0,98 мм"
    ),
    "Export Bone Properties": "Экспорт свойств костей",
    "Export Editor Motions": "Экспорт анимаций редактора",
    "Export X-Ray Bone Properties": "Экспорт свойств костей X-Ray",
    "Export X-Ray Editor Motions": "Экспорт анимаций редактора X-Ray",
    "Export actions as motions of the editor of S.T.A.L.K.E.R. (X-Ray); what nobody touched keeps its bytes": (
        "Экспорт действий как анимаций редактора S.T.A.L.K.E.R. (X-Ray); нетронутое сохраняет свои байты"
    ),
    "Export shapes, joints, masses and materials of the armature's bones (X-Ray); what is unchanged keeps its bytes": (
        "Экспорт форм, суставов, масс и материалов костей арматуры (X-Ray); неизменённое сохраняет свои байты"
    ),
    "Full numbers for handles; four times the size, without marks": (
        "Полные числа для рукояток; вчетверо больше, без меток"
    ),
    "How far a fitted curve may lie from what it is fitted to": (
        "На сколько приближённая кривая может отстоять от исходной"
    ),
    "Import Bone Properties": "Импорт свойств костей",
    "Import Editor Motions": "Импорт анимаций редактора",
    "Import X-Ray Bone Properties": "Импорт свойств костей X-Ray",
    "Import X-Ray Editor Motions": "Импорт анимаций редактора X-Ray",
    "Import motions of the editor of S.T.A.L.K.E.R. (X-Ray) onto the active armature: one action for each motion": (
        "Импорт анимаций редактора S.T.A.L.K.E.R. (X-Ray) на активную арматуру: по действию на каждую анимацию"
    ),
    "Choose files of the editor's motions (.skl, .skls), and see the list of what is in them": (
        "Выбрать файлы анимаций редактора (.skl, .skls) и увидеть список того, что в них есть"
    ),
    "Import shapes, joints, masses and materials of bones (X-Ray) onto the active armature": (
        "Импорт форм, суставов, масс и материалов костей (X-Ray) на активную арматуру"
    ),
    "Match Scene to Editor Motion": "Настроить сцену под анимацию редактора",
    "Motions that came from a file keep theirs": "Анимации из файла сохраняют свою",
    "Quaternion": "Кватернион",
    "Quaternions where other actions turn the armature by them, else Euler angles": (
        "Кватернионы, если ими поворачивают арматуру другие действия, иначе углы Эйлера"
    ),
    "Quaternions, as other motions of the game have them here": "Кватернионы, как у других анимаций игры",
    "Rotation": "Вращение",
    "Set the scene to the frame rate and the length of the editor's motion that plays": (
        "Задать сцене частоту кадров и длину играющей анимации редактора"
    ),
    "Set the scene to the frame rate and the length of the first motion": (
        "Задать сцене частоту кадров и длину первой анимации"
    ),
    "The active armature plays no motion of the editor": "Активная арматура не играет анимацию редактора",
    "This action is a motion of the game's editor": "Это действие — анимация редактора игры",
    "Version of New Motions": "Версия новых анимаций",
    "What the bones are turned by": "Чем поворачиваются кости",
    "Where the bone properties were read": "Откуда прочитаны свойства костей",
    "X-Ray Bone Properties": "Свойства костей X-Ray",
    "X-Ray Bone Properties (.bones)": "Свойства костей X-Ray (.bones)",
    "X-Ray Editor Motions": "Анимации редактора X-Ray",
    "X-Ray Editor Motions (.skl, .skls)": "Анимации редактора X-Ray (.skl, .skls)",
}
