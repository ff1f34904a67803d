"""Russian texts about models of Descent 3, by the English of the source."""

from __future__ import annotations

DESCENT: dict[str, str] = {
    "1 primary weapon, 2 ship, 3 secondary weapon, 4 and 5 energy, 6 shield, 7 afterburner, 8 unused": (
        "1 основное оружие, 2 корабль, 3 дополнительное оружие, 4 и 5 энергия, 6 щит, 7 форсаж, 8 не занят"
    ),
    "; moving: {}": "; движутся: {}",
    "A gauge of a cockpit": "Прибор кабины",
    "A named place; the game passes over it": "Именованное место; игра его пропускает",
    "A new model, not from a file": "Новая модель, не из файла",
    "A property string that the game does not know": "Строка свойств, которой игра не знает",
    "A sub-object like others": "Обычный подобъект",
    "Add Battery": "Добавить батарею",
    "Add Point": "Добавить точку",
    "Add a point to the active sub-object, at the 3D cursor": "Добавить точку активному подобъекту, у 3D-курсора",
    "Add a weapon battery to the model, with the selected gun points and turrets": (
        "Добавить модели оружейную батарею с выделенными точками стрельбы и турелями"
    ),
    "Added {}": "Добавлено: {}",
    "An armature with a bone for each sub-object, which hangs on it; for posing": (
        "Арматура с костью на каждый подобъект, который на ней держится; для поз"
    ),
    "An object for each sub-object, below that of its parent": "Объект на каждый подобъект, под объектом его родителя",
    "Animated to": "Анимации в",
    "Armature": "Арматура",
    "As": "Как",
    "As Shown": "Как показано",
    "As in the File": "Как в файле",
    "As the Game's Tools": "Как в инструментах игры",
    "Attach Point": "Точка стыковки",
    "Axis": "Ось",
    "Batteries: {}": "Батарей: {}",
    "Battery {}": "Батарея {}",
    "Becomes the room around a door; not drawn, no children": (
        "Становится комнатой вокруг двери; не рисуется, без потомков"
    ),
    "Billboard ($facing)": "Билборд ($facing)",
    "Cockpit Eye ($viewer)": "Глаз в кабине ($viewer)",
    "Cockpit Layer ($layer)": "Слой кабины ($layer)",
    "Cockpit Monitor ($monitor)": "Монитор кабины ($monitor)",
    "Degrees the turret may turn through, half to each side": (
        "На сколько градусов турель может повернуться, по половине в каждую сторону"
    ),
    "Descent 3 Archive": "Архив Descent 3",
    "Descent 3 Folder": "Папка Descent 3",
    "Descent 3 Model": "Модель Descent 3",
    "Descent 3 Model (.oof)": "Модель Descent 3 (.oof)",
    "Descent 3 Model (.oof, .hog, .mn3)": "Модель Descent 3 (.oof, .hog, .mn3)",
    "Descent 3 Texture": "Текстура Descent 3",
    "Descent 3 Texture (.ogf, .oaf)": "Текстура Descent 3 (.ogf, .oaf)",
    "Door Front ($frontface)": "Дверной проём ($frontface)",
    "Door Housing ($shell)": "Корпус двери ($shell)",
    "Drawn after the gauges of a cockpit": "Рисуется после приборов кабины",
    "Drawn only with a team's or player's own texture": "Рисуется только с текстурой команды или игрока",
    "Edited motions: {} ({})": "Изменённых движений: {} ({})",
    "Every Tick": "Каждый такт",
    "Export Descent 3 Model": "Экспорт модели Descent 3",
    "Export a model of Descent 3: an imported one, whose untouched parts keep their bytes, or selected meshes": (
        "Экспорт модели Descent 3: импортированной, нетронутые части которой сохраняют свои байты, или выделенных сеток"
    ),
    "Exporting changes motions of the file": "Экспорт изменит движения файла",
    "Field (°)": "Сектор (°)",
    "Find out which motions are edited, and select their sub-objects": (
        "Узнать, какие движения изменены, и выделить их подобъекты"
    ),
    "Find what Descent 3 would refuse or show otherwise than meant, and select the first such faces or objects": (
        "Найти, что Descent 3 не примет или покажет иначе, и выделить первые такие грани или объекты"
    ),
    "Glow ($glow)": "Свечение ($glow)",
    "Ground Point": "Точка опоры",
    "Gun Point": "Точка стрельбы",
    "Gun points: {}, turrets: {}": "Точек стрельбы: {}, турелей: {}",
    "Gun, ground, attach and special points, as arrows and spheres": (
        "Точки стрельбы, опоры, стыковки и особые, стрелками и сферами"
    ),
    "Guns: {}, turrets: {}": "Стволов: {}, турелей: {}",
    "Has a Motion": "Имеет движение",
    "How large the light is": "Насколько велик свет",
    "How long one turn takes; above 0, at most 20 for a rotor and 60 for a turret": (
        "Сколько длится оборот; больше 0, не более 20 у ротора и 60 у турели"
    ),
    "Images: {}, {} to begin with": "Изображений: {}, первое: {}",
    "Import Descent 3 Model": "Импорт модели Descent 3",
    "Import Descent 3 Texture": "Импорт текстуры Descent 3",
    "Import Model": "Импортировать модель",
    "Import Models": "Импортировать модели",
    "Import models of Descent 3: sub-objects, textures, gun, attach and ground points, weapon batteries": (
        "Импорт моделей Descent 3: подобъекты, текстуры, точки стрельбы, стыковки и опоры, оружейные батареи"
    ),
    "Import textures of Descent 3 as images; of animations every picture": (
        "Импорт текстур Descent 3 как изображений; из анимаций — каждый кадр"
    ),
    "Import this model": "Импортировать эту модель",
    "Imported models: {} (sub-objects: {}, points: {})": "Импортировано моделей: {} (подобъектов: {}, точек: {})",
    "In Archive": "В архиве",
    "Its place among the points of its kind; -1: behind them": "Место среди точек своего вида; -1: за ними",
    "Its vertices tremble": "Его вершины дрожат",
    "Jitter ($jitter)": "Дрожь ($jitter)",
    "Keys between ticks, for the eye: {}": "Ключей между тактами, для показа: {}",
    "Let the chosen battery fire the selected gun points, and be aimed by the selected sub-objects": (
        "Выбранная батарея стреляет из выделенных точек, а наводят её выделенные подобъекты"
    ),
    "Light at the pivot; one face, which is not drawn, gives the direction": (
        "Свет у опорной точки; одна грань, которая не рисуется, задаёт направление"
    ),
    "Make the selected meshes, and what hangs below them, the sub-objects of a new Descent 3 model": (
        "Сделать выделенные сетки и всё под ними подобъектами новой модели Descent 3"
    ),
    "Monitor": "Монитор",
    "Motions": "Движения",
    "Motions of sub-objects as actions; a tick of the game is a frame": (
        "Движения подобъектов как действия; такт игры — кадр"
    ),
    "New Descent 3 Model": "Новая модель Descent 3",
    "No mesh is in the scene": "В сцене нет сетки",
    "No mesh is selected": "Сетка не выделена",
    "No point of a model": "Не точка модели",
    "Normals": "Нормали",
    "Nothing moves by keys": "Ключи ничего не двигают",
    "Objects": "Объекты",
    "One face that closes a door; not drawn, no children": "Одна грань, закрывающая дверь; не рисуется, без потомков",
    "One textured face that always looks at the camera": "Одна грань с текстурой, всегда обращённая к камере",
    "Other": "Другое",
    "Pivot": "Опорная точка",
    "Plain": "Обычный",
    "Points": "Точки",
    "Properties": "Свойства",
    "Reaction (s)": "Реакция (с)",
    "Red, green and blue of the light": "Красный, зелёный и синий цвет света",
    "Remove Battery": "Убрать батарею",
    "Remove the chosen weapon battery; those behind it get the number before theirs": (
        "Убрать выбранную оружейную батарею; номера следующих уменьшатся на единицу"
    ),
    "Rotor ($rotate)": "Ротор ($rotate)",
    "Saving keeps the images that nothing shows at the moment": (
        "Сохранение оставляет изображения, которые сейчас нигде не показаны"
    ),
    "Seconds a Turn": "Секунд на оборот",
    "Seconds before the turret reacts": "Через сколько секунд турель реагирует",
    "Select Offending Elements": "Выделить ошибочные элементы",
    "Set from Selected": "Взять выделенное",
    "Set the scene to 30 frames a second and to the ticks of the first model that moves": (
        "Задать сцене 30 кадров в секунду и такты первой движущейся модели"
    ),
    "Show models with this in their names; * and ? stand for any letters": (
        "Показать модели, в имени которых есть это; * и ? — любые буквы"
    ),
    "The folder to write the pictures of animated textures to, as numbered files, so that they play, one a frame; "
    "empty to show one picture of each": (
        "Папка, в которую записать кадры анимированных текстур нумерованными файлами, чтобы они проигрывались, по "
        "одному на кадр сцены; пусто — показать по одному"
    ),
    "Show rotors turning as the game turns them; exports take no notice of it": (
        "Показать роторы так, как их вращает игра; на экспорт это не влияет"
    ),
    "Show textures where they are found: beside the model, in its archive, in the Descent 3 folder": (
        "Показывать текстуры, где они найдены: рядом с моделью, в её архиве, в папке Descent 3 из настроек"
    ),
    "Show turrets swinging through their fields; exports take no notice of it": (
        "Показать, как турели проходят свой сектор; на экспорт это не влияет"
    ),
    "Size": "Размер",
    "Special Point": "Особая точка",
    "Sub-Object": "Подобъект",
    "Swing Turrets": "Качать турели",
    "Team Logo ($custom)": "Эмблема команды ($custom)",
    "The active object belongs to no Descent 3 model": "Активный объект не принадлежит модели Descent 3",
    "The active object is no sub-object of a Descent 3 model": "Активный объект — не подобъект модели Descent 3",
    "The attach point says which way is up: the empty's y axis": (
        "Точка стыковки задаёт направление вверх: ось Y пустышки"
    ),
    "The file's own, and more where needed to stay within 0.05° of what the game shows": (
        "Ключи файла и ещё те, без которых расхождение с игрой превысит 0,05°"
    ),
    "The folder of Descent 3 that holds d3.hog, searched for the textures of its models": (
        "Папка Descent 3, где лежит d3.hog; в ней ищутся текстуры моделей"
    ),
    "The glow of an engine; one face, which is not drawn, gives the direction": (
        "Свечение двигателя; одна грань, которая не рисуется, задаёт направление"
    ),
    "The model's name in the archive it was read from": "Имя модели в архиве, из которого она прочитана",
    "The motions are those of the file": "Движения те же, что в файле",
    "The pivot at rest, from that of the parent": "Опорная точка в покое, от опорной точки родителя",
    "The property string as the file has it: $rotate=, $glow=, $fov=, $facing …": (
        "Строка свойств, как в файле: $rotate=, $glow=, $fov=, $facing …"
    ),
    "The special point's name in the file": "Имя особой точки в файле",
    "The special point's property string": "Строка свойств особой точки",
    "The sub-object's name in the file": "Имя подобъекта в файле",
    "This object is a sub-object of a Descent 3 model": "Этот объект — подобъект модели Descent 3",
    "Those that Blender shows; vertices are split at sharp edges": (
        "Те, что показывает Blender; у острых рёбер вершины разделяются"
    ),
    "Thruster ($thruster)": "Двигатель ($thruster)",
    "Ticks a second: the game's tables": "Тактов в секунду: по таблицам игры",
    "Ticks {} to {}, moving sub-objects: {}": "Такты с {} по {}, движутся подобъектов: {}",
    "Turn Rotors": "Вращать роторы",
    "Turned by the game about the axis of its keys": "Игра поворачивает её вокруг оси её ключей",
    "Turns all the time, about the axis of its keys": "Всё время вращается вокруг оси своих ключей",
    "Turret ($fov)": "Турель ($fov)",
    "Unchanged": "Без изменений",
    "Untouched ones as they are, others smooth, as the game's own tools work them out": (
        "Нетронутые как есть, остальные сглажены, как их вычисляют инструменты игры"
    ),
    "Weapon Batteries": "Оружейные батареи",
    "What a rotor or turret turns about, in its parent's frame": (
        "Вокруг чего вращается ротор или турель, в системе родителя"
    ),
    "What is below this object is a model of the game": "То, что под этим объектом, — модель игры",
    "What plays is what the game shows": "Проигрывается то, что показывает игра",
    "What sub-objects become": "Чем становятся подобъекты",
    "What the point is for": "Для чего точка",
    "What the property string makes of the sub-object": "Чем строка свойств делает подобъект",
    "Where motions get keys": "Где движения получают ключи",
    "Where objects dock: the arrow is forward, the empty's y axis up": (
        "Где стыкуются объекты: стрелка — вперёд, ось Y пустышки — вверх"
    ),
    "Where shots leave, along the arrow; batteries and the game's tables know it by its number": (
        "Откуда вылетают выстрелы, вдоль стрелки; батареи и таблицы игры знают её по номеру"
    ),
    "Where the eye is in a cockpit": "Где находится глаз в кабине",
    "Where the object touches the ground": "Где объект касается земли",
    "Whether the motions are those of the file": "Те же ли движения, что в файле",
    "Which normals of vertices are written": "Какие нормали вершин записываются",
    "Write a file of version 2300 from the objects alone, not into what was imported": (
        "Записать файл версии 2300 только из объектов, а не в импортированное"
    ),
    "{} can be exported for Descent 3 now": "{}: теперь можно экспортировать для Descent 3",
    "{} kB": "{} кБ",
    "{} of {} models": "моделей: {} из {}",
    "{}: ticks {} to {}, keys: {}": "{}: такты с {} по {}, ключей: {}",
}
