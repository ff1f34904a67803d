"""Russian texts about animations of Arma and Operation Flashpoint, by the English of the source."""

from __future__ import annotations

ARMA: dict[str, str] = {
    "A .p3d with a point for each bone": "Файл .p3d с точкой для каждой кости",
    "A frame is a key of the file": "Кадр — это ключ файла",
    "A new armature also has the bones of the hierarchy that the animation does not move": (
        "Новая арматура получает и те кости иерархии, которые анимация не двигает"
    ),
    "A .p3d with a point for each bone, which import dialogs suggest": (
        "Файл .p3d с точкой для каждой кости, который предлагают диалоги импорта"
    ),
    "Animations listed: {}, new in the list: {}": "Анимаций в списке: {}, из них новых: {}",
    "Arma Skeleton Files": "Файлы скелета Arma",
    "Events": "События",
    "List Animations": "Собрать анимации",
    "List the action that plays, and imported animations of these bones that no armature lists": (
        "Добавить в список действие, которое играет, и импортированные анимации этих костей, которых нет ни в "
        "одном списке"
    ),
    "Match Scene to Animation": "Подогнать сцену под анимацию",
    "Set the scene's first and last frame to the animation's; the rate stays, as a config sets the game's speed": (
        "Взять первый и последний кадр сцены из анимации; частота кадров остаётся: скорость в игре задаёт конфиг"
    ),
    "The model.cfg of the skeleton, which the dialogs suggest; empty for the one beside the imported file": (
        "model.cfg скелета, который предлагают диалоги импорта и экспорта; пусто — тот, что рядом с импортируемым "
        "файлом"
    ),
    "Active Armature": "Активная арматура",
    "Add Event": "Добавить событие",
    "Add an event at the current frame": "Добавить событие в текущем кадре",
    "Added the event {}": "Добавлено событие {}",
    "Also Upwards": "И по высоте",
    "An armature is made for the animation; further files go onto it where they fit": (
        "Для анимации создаётся арматура; следующие файлы попадают на неё, если подходят"
    ),
    "Animation": "Анимация",
    "Arma 2 Man": "Человек Arma 2",
    "Arma 3 Man": "Человек Arma 3",
    "Arma Animation": "Анимация Arma",
    "Arma Animation (.rtm)": "Анимация Arma (.rtm)",
    "As Typed": "Как введено",
    "As the armature's bones are listed and spelled": "Как перечислены и названы кости арматуры",
    "As the file it came from, or the skeleton that the armature knows": (
        "Как в исходном файле или в скелете, который известен арматуре"
    ),
    "As the model.cfg named below or beside the file lists them": (
        "Как в model.cfg, указанном ниже или лежащем рядом с файлом"
    ),
    "Binarised": "Бинаризованный",
    "Bone": "Кость",
    "Bones are found by their names, upper and lower case being the same": (
        "Кости находятся по именам без учёта регистра"
    ),
    "Bones: {}, not in the armature: {}": "Костей: {}, нет в арматуре: {}",
    "By Phase": "По фазе",
    "Compare with File": "Сравнить с файлом",
    "Compared with the file the animation came from": "По сравнению с исходным файлом анимации",
    "Even": "Равномерно",
    "Evenly from 0 to 1": "Равномерно от 0 до 1",
    "Event": "Событие",
    "Every": "Каждый",
    "Every Nth Frame": "Каждый N-й кадр",
    "Every bone stands for itself": "Каждая кость сама по себе",
    "Every frame on which a bone has a key; in new animations also those that Tolerance asks for": (
        "Каждый кадр, где у кости есть ключ; в новых анимациях также те, которых требует допуск"
    ),
    "Export Animation": "Экспорт анимации",
    "Export Arma Animation": "Экспорт анимации Arma",
    "Export what the active armature plays as an animation of Arma and Operation Flashpoint (.rtm)": (
        "Экспорт того, что играет активная арматура, в анимацию Arma и Operation Flashpoint (.rtm)"
    ),
    "Find out whether the animation is edited": "Узнать, изменена ли анимация",
    "First frame of the range": "Первый кадр диапазона",
    "Flashpoint Man": "Человек Flashpoint",
    "For Display": "Для показа",
    "Frame of phase 0 or of the first key": "Кадр фазы 0 или первого ключа",
    "Frames": "Кадры",
    "Frames from one key to the next": "Кадров от ключа до ключа",
    "Frames of a range, so many apart": "Кадры диапазона через столько-то",
    "Frames of the action's range, so many apart, and the last one": (
        "Кадры диапазона экшена через столько-то и последний"
    ),
    "New animations get keys where the game's blend between keys would be off by more than this. Keys alone: 0": (
        "Новые анимации получают ключи там, где смешение между ключами в игре отклонилось бы больше, чем на это. "
        "Только ключи: 0"
    ),
    "Hierarchy": "Иерархия",
    "How far a bone goes in one cycle, which is taken out of the animation": (
        "Как далеко уходит кость за цикл; это вычитается из анимации"
    ),
    "How far the model moves in one cycle": "Как далеко уходит модель за цикл",
    "How far the model moves in one cycle; characters look along -Y, so forward is negative there": (
        "Как далеко уходит модель за цикл; персонажи смотрят вдоль -Y, поэтому вперёд — отрицательно"
    ),
    "How long a cycle lasts in the game: 1 / speed of its config, or -speed where that is negative": (
        "Сколько длится цикл в игре: 1 / speed из конфига или -speed, если оно отрицательно"
    ),
    "Import Animation": "Импорт анимации",
    "Import Arma Animation": "Импорт анимации Arma",
    "Import animations of Arma and Operation Flashpoint (.rtm), plain or binarised, each as an action": (
        "Импорт анимаций Arma и Operation Flashpoint (.rtm), обычных и бинаризованных, каждая становится экшеном"
    ),
    "Imported animations: {}; {} moves": "Импортировано анимаций: {}; движется {}",
    "Joints": "Суставы",
    "Joints of the man of Arma 3, within a centimetre": "Суставы человека Arma 3 с точностью до сантиметра",
    "Kept": "Как были",
    "Keys": "Ключи",
    "Keys lie where their phases say, in a cycle of so many seconds at the scene's rate": (
        "Ключи лежат по своим фазам в цикле из стольких секунд при частоте сцены"
    ),
    "Keys of the armature object carry the animation along": "Анимацию несут ключи объекта арматуры",
    "Keys: {}, phases {:g} to {:g}": "Ключей: {}, фазы от {:g} до {:g}",
    "Known Man": "Известный человек",
    "Last": "Последний",
    "Last frame of the range": "Последний кадр диапазона",
    "Left Out": "Не показан",
    "Markers as Events": "Маркеры как события",
    "Names and Order": "Имена и порядок",
    "New Armature": "Новая арматура",
    "OFP2_ManSkeleton of Arma 2": "OFP2_ManSkeleton из Arma 2",
    "OFP2_ManSkeleton of Arma 3": "OFP2_ManSkeleton из Arma 3",
    "Of the pivots model where one is named, else of the animation, else of the known man": (
        "Из модели опорных точек, если она указана, иначе из анимации, иначе от известного человека"
    ),
    "On the Object": "На объекте",
    "On the Root Bones": "На корневых костях",
    "On which frames keys lie": "На каких кадрах лежат ключи",
    "One Frame a Key": "Кадр на ключ",
    "Onto": "Куда",
    "Overwrite": "Перезаписать",
    "Parent": "Родитель",
    "Phase": "Фаза",
    "Phases": "Фазы",
    "Pivots Model": "Модель опорных точек",
    "Plain": "Обычный",
    "Points of a .p3d model named like the bones": "Точки модели .p3d, названные как кости",
    "Prefix": "Префикс",
    "Put each action on a muted NLA track of its own": "Положить каждый экшен на свою заглушённую дорожку NLA",
    "Range": "Диапазон",
    "Remove Event": "Удалить событие",
    "Remove the active event and its marker": "Удалить активное событие и его маркер",
    "Removed the event {}": "Удалено событие {}",
    "Save Animation Back": "Сохранить анимацию обратно",
    "Seconds": "Секунды",
    "Start from the File": "На основе файла",
    "Step": "Шаг",
    "Step Is": "Шаг сейчас",
    "The Armature": "Арматура",
    "The File": "Файл",
    "The action's pose markers that are no events yet become events of their names": (
        "Маркеры позы, которые ещё не события, становятся событиями со своими именами"
    ),
    "The active armature if it has bones of the animation, else a new armature": (
        "Активная арматура, если в ней есть кости анимации, иначе новая"
    ),
    "The active armature plays no action": "Активная арматура не играет экшена",
    "The animation stays in place, as in the file; the step is a number on the action": (
        "Анимация остаётся на месте, как в файле; шаг — число на экшене"
    ),
    "The bone of the armature": "Кость арматуры",
    "The bone of the armature that it moves; empty where there is none": (
        "Кость арматуры, которую она двигает; пусто, если такой нет"
    ),
    "The bone whose way is the step": "Кость, чей путь становится шагом",
    "The bones without a parent walk away; exporting takes the step out of them again": (
        "Кости без родителя уходят вперёд; экспорт снова вычитает шаг"
    ),
    "The event's name, such as StepSound": "Имя события, например StepSound",
    "The file's own where its keys lie, in between in proportion; new animations go from 0 to 1": (
        "Собственные фазы файла там, где лежат его ключи, между ними по пропорции; новые анимации идут от 0 до 1"
    ),
    "The game's name of the parent": "Имя родителя в игре",
    "The game's skeleton has no such hierarchy": "В игре у скелета такой иерархии нет",
    "The kind of file the animation came in; plain for new ones": (
        "Вид файла, из которого пришла анимация; для новых — обычный"
    ),
    "The man of Operation Flashpoint; the game has no hierarchy, this one is for work": (
        "Человек Operation Flashpoint; в игре иерархии нет, эта — для работы"
    ),
    "The model.cfg beside the file, else the known man that has these bones, else none": (
        "model.cfg рядом с файлом, иначе известный человек с такими костями, иначе никакой"
    ),
    "The model.cfg of the skeleton: for names and order, and for the hierarchy of binarised files": (
        "model.cfg скелета: для имён и порядка и для иерархии бинаризованных файлов"
    ),
    "The model.cfg of the skeleton; empty for the one beside the file": (
        "model.cfg скелета; пусто — тот, что рядом с файлом"
    ),
    "The number on the action": "Число на экшене",
    "The number on the action, or what the object's keys say where these were edited": (
        "Число на экшене или то, что говорят ключи объекта, если их изменили"
    ),
    "The skeleton of a model.cfg, named below or beside the file": (
        "Скелет из model.cfg, указанного ниже или лежащего рядом с файлом"
    ),
    "The skeleton's name in the game": "Имя скелета в игре",
    "The step also has the bone's way up or down": "В шаг входит и путь кости вверх или вниз",
    "There is no event to remove": "Нет события для удаления",
    "This action is an animation of the game": "Этот экшен — анимация игры",
    "Timing": "Время",
    "Value": "Значение",
    "Way of a Bone": "Путь кости",
    "What a binarised file holds the bone relative to": "Относительно чего кость хранится в бинаризованном файле",
    "What becomes of the way the model goes in one cycle; all can be exported again as they came": (
        "Что станет с путём модели за цикл; любой вариант экспортируется таким, каким пришёл"
    ),
    "What decides them": "Чем они определяются",
    "What nobody touched keeps the numbers of the file it came from": "Неизменённое сохраняет числа исходного файла",
    "What the armature's bones have before the game's names": "Что стоит у костей арматуры перед именами игры",
    "What the event is given; most have none": "Что передаётся событию; у большинства пусто",
    "What the game makes of it (BMTR 5): half the precision, one scale for all axes, with hierarchy": (
        "Что из него делает игра (BMTR 5): половинная точность, один масштаб на все оси, нужна иерархия"
    ),
    "What tools read (RTM_0101)": "Что читают инструменты (RTM_0101)",
    "When it happens: 0 at the beginning of the cycle, 1 at its end": "Когда происходит: 0 — начало цикла, 1 — конец",
    "Where bones turn about a point that stays, that is their joint": (
        "Точка, вокруг которой кость поворачивается и которая стоит на месте, — её сустав"
    ),
    "Where in the cycle keys lie": "Где в цикле лежат ключи",
    "Where the bones of a new armature begin; the pose is the same with any": (
        "Где начинаются кости новой арматуры; поза одна и та же при любом выборе"
    ),
    "Where the step is in Blender": "Где находится шаг в Blender",
    "Which armature moves": "Какая арматура движется",
    "Which bone hangs on which; the pose is the same with any, but binarised files need the game's own": (
        "Какая кость на какой висит; поза одна и та же, но бинаризованным файлам нужна иерархия игры"
    ),
    "Tolerance": "Допуск",
    "Which frames become keys": "Какие кадры станут ключами",
    "Which kind of file is written": "Какой вид файла записывается",
    "Whole Skeleton": "Весь скелет",
    "Write even if the file on disk is no longer the one that was imported": (
        "Записать, даже если файл на диске уже не тот, что был импортирован"
    ),
    "Write the animation into the file it came from, and keep a backup unless there is one already": (
        "Записать анимацию в исходный файл, сохранив копию, если её ещё нет"
    ),
}
