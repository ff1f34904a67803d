"""Russian texts about models of Operation Flashpoint and Arma, by the English of the source."""

from __future__ import annotations

ARMA_MODEL: dict[str, str] = {
    "Arma Folder": "Папка Arma",
    "The work drive (P:) of the Arma tools, or the folder it stands for: texture paths of models begin there": (
        "Рабочий диск (P:) инструментов Arma или папка вместо него: там начинаются пути текстур моделей"
    ),
    "As They Are": "Как есть",
    "File and armature call bones the same": "Файл и арматура называют кости одинаково",
    "Flashpoint on Arma": "Flashpoint на Arma",
    "The file has the bones of Flashpoint's man, the armature those of Arma's": (
        "В файле кости человека Flashpoint, в арматуре — человека Arma"
    ),
    "Arma on Flashpoint": "Arma на Flashpoint",
    "The file has the bones of Arma's man, the armature those of Flashpoint's": (
        "В файле кости человека Arma, в арматуре — человека Flashpoint"
    ),
    "Own Table": "Своя таблица",
    "A table in JSON says which bone of the armature each bone of the file is": (
        "Таблица в JSON говорит, какой кости арматуры соответствует каждая кость файла"
    ),
    "Bone Names": "Имена костей",
    "Whether file and armature call the same bone differently": (
        "Называют ли файл и арматура одну и ту же кость по-разному"
    ),
    "Table": "Таблица",
    'A file in JSON: {"bones": {"name in the file": "name in the armature"}}': (
        'Файл JSON: {"bones": {"имя в файле": "имя в арматуре"}}'
    ),
    "A .p3d with a point for each bone; empty for the one that the model.cfg names, "
    "if it lies beside the file, or the model's own points": (
        "Файл .p3d с точкой для каждой кости; если пусто — названный в model.cfg и лежащий рядом с файлом, "
        "или точки самой модели"
    ),
    "A point of the memory level": "Точка уровня памяти",
    "All Visual": "Все видимые",
    "All levels that are looked at from outside": "Все уровни, на которые смотрят снаружи",
    "Arma Model": "Модель Arma",
    "Arma Model (.p3d)": "Модель Arma (.p3d)",
    "First Visual": "Первый видимый",
    "Geometry": "Геометрия",
    "Import Arma Model": "Импорт модели Arma",
    "Import models of the tools of Arma and Operation Flashpoint (.p3d, MLOD), to see animations on them": (
        "Импорт моделей инструментов Arma и Operation Flashpoint (.p3d, MLOD), чтобы видеть на них анимации"
    ),
    "Imported models: {} (meshes: {}, points and proxies: {})": (
        "Импортировано моделей: {} (мешей: {}, точек и прокси: {})"
    ),
    "Land contact, roadway, paths, hit points, edit, subparts, wreck": "Касание земли, дорога, пути, точки попадания, "
    "правка, части, обломки",
    "Level of Arma": "Уровень Arma",
    "Levels": "Уровни",
    "Made from the model.cfg below or beside the file, or of a known man": (
        "Создаётся по model.cfg, указанному ниже или лежащему рядом, или по известному человеку"
    ),
    "Memory": "Память",
    "Named points, as empties in a collection of their own": "Именованные точки, пустышками в отдельной коллекции",
    "No named properties": "Именованных свойств нет",
    "Not of a model of Arma": "Не из модели Arma",
    "Other models that hang on this one, as empties": "Другие модели, которые висят на этой, пустышками",
    "Others": "Прочие",
    "Point": "Точка",
    "Proxies": "Прокси",
    "Proxy": "Прокси",
    "Resolution": "Разрешение",
    "Selections move with the bones of their names, upper and lower case being the same": (
        "Выделения движутся с костями своего имени, без учёта регистра"
    ),
    "Shadow": "Тень",
    "Show .png and .tga files named like the game's textures: beside the model, in "
    "its data folder or where the texture's path leads within the project or the Arma folder of the preferences": (
        "Показать файлы .png и .tga, названные как текстуры игры: рядом с моделью, в её папке data "
        "или там, куда ведёт путь текстуры внутри проекта или папки Arma из настроек"
    ),
    "Stands For": "Означает",
    "The active armature if its bones are selections of the model, else none": (
        "Активная арматура, если её кости есть среди выделений модели, иначе никакой"
    ),
    "The level that is seen from nearby": "Уровень, который видно вблизи",
    "The meshes alone": "Только меши",
    "The model's file": "Файл модели",
    "The number that tells levels apart": "Число, которым различаются уровни",
    "The selection's name, or the path of the model that hangs here": (
        "Имя выделения или путь модели, которая здесь висит"
    ),
    "This mesh is a level of a model of Arma": "Этот меш — уровень модели Arma",
    "Views": "Виды",
    "What casts shadows": "То, что отбрасывает тень",
    "What gunner, pilot and cargo see from inside": "Что видят изнутри стрелок, пилот и пассажир",
    "What is run into, seen through and shot at, also from inside; buoyancy, PhysX": "То, обо что ударяются, сквозь "
    "что смотрят и во что стреляют, в том числе изнутри; плавучесть, PhysX",
    "What the empty is in the model": "Чем пустышка является в модели",
    "What the level is for": "Для чего уровень",
    "What the meshes hang on": "На чём держатся меши",
    "What the model says for the game": "Что модель сообщает игре",
    "Where another model hangs": "Где висит другая модель",
    "Which levels of detail become objects": "Какие уровни детализации станут объектами",
}
