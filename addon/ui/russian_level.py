"""Russian texts about levels, by the English of the source."""

from __future__ import annotations

LEVEL: dict[str, str] = {
    "A mesh for each game material; they are exported as one": (
        "По мешу на каждый материал игры; экспортируются как один"
    ),
    "A mesh for each sector; they are exported as one": "По мешу на каждый сектор; экспортируются как один",
    "Apply Modifiers": "Применить модификаторы",
    "Active face: {}": "Активная грань: {}",
    "As in gamemtl.xr": "Как в gamemtl.xr",
    "By Game Material": "По материалам игры",
    "By Sector": "По секторам",
    "Change both flags": "Изменить оба флага",
    "Change the game material": "Изменить материал игры",
    "Change the sector": "Изменить сектор",
    "Changed faces: {} of {} selected": "Изменено граней: {} из {} выделенных",
    "Collision": "Столкновения",
    "Corners nearer than this are joined; the engine joins within a centimetre": (
        "Углы ближе этого расстояния соединяются; движок соединяет в пределах сантиметра"
    ),
    "Detail Model": "Модель травы",
    "Export": "Экспорт",
    "Export X-Ray Level Geometry": "Экспорт геометрии уровня X-Ray",
    "Export what modifiers make of it": "Экспортировать то, что делают модификаторы",
    "Export what the active object is to a level of S.T.A.L.K.E.R. (X-Ray): collision, occluders, detail model": (
        "Экспорт активного объекта для уровня S.T.A.L.K.E.R. (X-Ray): столкновения, окклюдеры, модель травы"
    ),
    "Find what the game would reject or what is worth a look, and select the first such faces or vertices": (
        "Найти то, что игра отвергнет или на что стоит взглянуть, и выделить первые такие грани или вершины"
    ),
    "Finding": "Замечание",
    "The places are selected:": "Места выделены:",
    "Tab edits, numpad . goes there": "Tab — правка, Numpad . — к месту",
    "Worth a look first:": "Сначала взгляните:",
    "Front Blue, Back Red": "Лицо синее, изнанка красная",
    "Selected faces:": "Выделенные грани:",
    "Share of sound let through:": "Доля пропускаемого звука:",
    "Findings: {}": "Замечаний: {}",
    "Selected finding {} of {}: {}": "Выделено замечание {} из {}: {}",
    "From both sides, not the front alone": "С обеих сторон, а не только с лицевой",
    "Flags: shown in object mode": "Флаги: видны в объектном режиме",
    "Flags: {}": "Флаги: {}",
    "Game Material": "Материал игры",
    "Game material: {}": "Материал игры: {}",
    "No face is active: click one in edit mode": "Активной грани нет: щёлкните её в режиме правки",
    "Sector: {}": "Сектор: {}",
    "The name in gamemtl.xr; empty for the number": "Имя из gamemtl.xr; пусто — по номеру",
    "gamemtl.xr was not found: set Game Materials in the preferences": (
        "gamemtl.xr не найден: укажите «Материалы игры» в настройках"
    ),
    "Game Material Number": "Номер материала игры",
    "Game Materials": "Материалы игры",
    "Grass or litter that is scattered around (.dm)": "Трава или мусор, рассыпанные вокруг (.dm)",
    "Greatest Scale": "Наибольший размер",
    "How collision is taken apart": "Как разделить столкновения",
    "Import X-Ray Level Folder": "Импорт папки уровня X-Ray",
    "Import X-Ray Level Geometry": "Импорт геометрии уровня X-Ray",
    "Import every file of a S.T.A.L.K.E.R. (X-Ray) level folder that can be shown, each kind into a collection": (
        "Импорт всех файлов папки уровня S.T.A.L.K.E.R. (X-Ray), которые можно показать, по коллекции на каждый вид"
    ),
    "Imported files: {}": "Импортировано файлов: {}",
    "It waves in the wind": "Колышется на ветру",
    "Join corners of occluders that lie together; what is not edited is exported as it was": (
        "Соединить совпадающие углы окклюдеров; неизменённое экспортируется как было"
    ),
    "Kind": "Вид",
    "Last check: no findings": "Последняя проверка: замечаний нет",
    "Last check, findings: {}": "Последняя проверка, замечаний: {}",
    "Least Scale": "Наименьший размер",
    "Let the selected occluders work from both sides, or from their front alone": (
        "Выделенные окклюдеры действуют с обеих сторон или только с лицевой"
    ),
    "Level Errors": "Ошибки уровня",
    "Level Folder": "Папка уровня",
    "Make the active mesh something of a level: adds the attributes of its faces that are missing": (
        "Сделать активный меш частью уровня: добавляет недостающие атрибуты граней"
    ),
    "Nothing is wrong": "Всё в порядке",
    "Nothing of a level": "Не часть уровня",
    "Nothing of a level is in the scene; the X-Ray Level panel makes a mesh such": (
        "В сцене нет ничего от уровня; меш становится частью уровня на панели «Уровень X-Ray»"
    ),
    "Number of the level's sector": "Номер сектора уровня",
    "Occluders": "Окклюдеры",
    "Occlusion": "Заглушение",
    "One Mesh": "Один меш",
    "One of the meshes that a file was split into": "Один из мешей, на которые разделён файл",
    "One-Sided": "Односторонние",
    "Sector": "Сектор",
    "Select Offending Faces": "Выделить проблемные грани",
    "Set Collision Values": "Задать значения столкновений",
    "Set Flags": "Задать флаги",
    "Set Game Material": "Задать материал игры",
    "Set Sector": "Задать сектор",
    "Set Sound Occlusion": "Задать заглушение звука",
    "Set game material, sector and flags of the selected collision faces": (
        "Задать материал игры, сектор и флаги выделенных граней столкновений"
    ),
    "Set how much sound the selected faces let through": "Задать, сколько звука пропускают выделенные грани",
    "Share of the volume that is left behind it: 0 silences": "Доля громкости, которая остаётся за ней: 0 заглушает",
    "Show textures of detail models": "Показывать текстуры моделей травы",
    "Sound Occluders": "Звуковые окклюдеры",
    "Suppress Shadows": "Без теней",
    "Suppress Wallmarks": "Без следов пуль",
    "The active object is no mesh": "Активный объект не меш",
    "The active object is no mesh whose faces have this value": "Активный объект не меш, у граней которого есть это",
    "The active object is nothing of a level": "Активный объект не часть уровня",
    "The collision as one mesh": "Столкновения одним мешем",
    "The folder that holds level.cform": "Папка, в которой лежит level.cform",
    "The game material of collision faces, -1 for none": "Материал игры граней столкновений, -1 — нет",
    "The game's gamemtl.xr, for the names of collision's materials; files in a levels folder need none": (
        "gamemtl.xr игры, для имён материалов столкновений; файлам в папке levels он не нужен"
    ),
    "The largest it is scattered at": "Наибольший размер при рассыпании",
    "The smallest it is scattered at": "Наименьший размер при рассыпании",
    "They cast no shadow": "Не отбрасывают тени",
    "They take no marks of shots": "На них не остаются следы пуль",
    "Triangles that hide what lies behind them (level.hom)": "Треугольники, скрывающие то, что за ними (level.hom)",
    "Triangles that muffle sound (level.som)": "Треугольники, заглушающие звук (level.som)",
    "Two-Sided": "Двусторонние",
    "Use in Level": "Использовать в уровне",
    "Use in X-Ray Level": "Использовать в уровне X-Ray",
    "Waving": "Колышется",
    "Weld Distance": "Расстояние сварки",
    "Weld Occluders": "Сварить окклюдеры",
    "What a level compiler complained of (.err)": "На что пожаловался компилятор уровня (.err)",
    "What of a level this is": "Чем это является в уровне",
    "What the level collides with (level.cform)": "То, с чем сталкиваются на уровне (level.cform)",
    "Where the file was read": "Откуда прочитан файл",
    "Which of the findings is selected": "Какое из замечаний выделяется",
    "Write a file of the newest version from the mesh alone, not into what was imported": (
        "Записать файл новейшей версии по одному мешу, а не в импортированный"
    ),
    "X-Ray Level": "Уровень X-Ray",
    "X-Ray Level Folder": "Папка уровня X-Ray",
    "X-Ray Level Geometry": "Геометрия уровня X-Ray",
    "X-Ray Level Geometry (.cform, .hom, .som …)": "Геометрия уровня X-Ray (.cform, .hom, .som …)",
    "{} can be exported for a level now": "{} теперь можно экспортировать для уровня",
}
