"""Russian tooltips, by the English of the source."""

from __future__ import annotations

TOOLTIPS: dict[str, str] = {
    # Tooltips of operators
    "Import models of S.T.A.L.K.E.R. (X-Ray): armature, meshes, materials, and motions if wanted": (
        "Импорт моделей S.T.A.L.K.E.R. (X-Ray): арматура, меши, материалы и, если нужно, анимации"
    ),
    "Import motions of S.T.A.L.K.E.R. (X-Ray) onto the active armature: one action for each motion": (
        "Импорт анимаций S.T.A.L.K.E.R. (X-Ray) на активную арматуру: по одному действию на анимацию"
    ),
    "Export a model of S.T.A.L.K.E.R. (X-Ray) that was imported; what nobody touched keeps its bytes": (
        "Экспорт импортированной модели S.T.A.L.K.E.R. (X-Ray); нетронутое остаётся байт в байт"
    ),
    "Export actions as motions of S.T.A.L.K.E.R. (X-Ray), to a new file or into one that is there": (
        "Экспорт действий как анимаций S.T.A.L.K.E.R. (X-Ray): в новый файл или в имеющийся"
    ),
    "Choose files of motions (.omf), or models with motions inside (.ogf), and see the list of what is in them": (
        "Выбрать файлы анимаций (.omf) или модели с анимациями внутри (.ogf) и увидеть список того, что в них"
    ),
    "Import the motion files that the model refers to": "Импорт файлов анимаций, на которые ссылается модель",
    "Write the motions into the file they came from; says before what will change, and keeps a backup": (
        "Записать анимации в файл, из которого они взяты; заранее говорит, что изменится, и оставляет копию"
    ),
    "Make keys, marks and parameters what the file said": "Сделать ключи, метки и параметры такими, как в файле",
    "Move the motion in the list; the file takes the order of the list when it is saved": (
        "Переместить анимацию в списке; при сохранении файл получит порядок списка"
    ),
    "Delete the action; its motion leaves the file when that is saved": (
        "Удалить действие; его анимация исчезнет из файла при сохранении"
    ),
    "Make the active action a motion of the active motion file; saving back writes it": (
        "Сделать активное действие анимацией активного файла; она запишется при сохранении"
    ),
    "Compare every motion of the active file with what the file said": (
        "Сравнить каждую анимацию активного файла с тем, что было в файле"
    ),
    "Call the motion what the action is called; the file takes the name when it is saved": (
        "Назвать анимацию так же, как действие; файл получит имя при сохранении"
    ),
    "Set the scene to the game's 30 frames a second and to the length of the motion": (
        "Задать сцене 30 кадров в секунду, как в игре, и длину анимации"
    ),
    "Add a mark: a named row of intervals": "Добавить метку: именованный ряд интервалов",
    "Give the active mark another name": "Дать активной метке другое имя",
    "Remove the active mark with its intervals": "Удалить активную метку с её интервалами",
    "Add an interval to the active mark, one frame long from the current frame on": (
        "Добавить активной метке интервал длиной в кадр, начиная с текущего кадра"
    ),
    "Remove this interval": "Удалить этот интервал",
    "Take the times of the pose markers that were moved; saving does the same": (
        "Взять время передвинутых маркеров позы; сохранение делает то же самое"
    ),
    "Make a bone collection of each partition, to see and select its bones; the file does not depend on them": (
        "Сделать коллекцию костей из каждой группы, чтобы видеть и выделять её кости; файл от них не зависит"
    ),
    "Move the selected bones from their partitions to the one chosen in the list; saving back writes it": (
        "Перенести выделенные кости из их групп в выбранную в списке; запишется при сохранении в файл"
    ),
    "Let the model refer to one more motion file, named from the meshes folder on, without suffix": (
        "Добавить модели ссылку на файл анимаций: имя от папки meshes, без расширения"
    ),
    "Let the model no longer refer to the active motion file": "Убрать из модели ссылку на активный файл анимаций",
    "Put the user data into a text, to edit it in the Text editor": (
        "Поместить пользовательские данные в текст, чтобы править в текстовом редакторе"
    ),
    "Take the edited text over as the model's user data": "Взять исправленный текст как пользовательские данные модели",
    "Show what the last operation had to say, in full; confirming keeps it as a text": (
        "Показать полностью, что сообщила последняя операция; подтверждение сохраняет это как текст"
    ),
    # Tooltips of options
    "The meshes, not the armature alone": "Меши, а не только арматура",
    "Show textures where they are found: in the folders of the preferences, or in the game's folders that the model "
    "lies in": "Показать найденные текстуры: в папках из настроек или в папках игры, где лежит модель",
    "Motions to import with the model": "Какие анимации импортировать с моделью",
    "The model alone": "Только модель",
    "Motions that lie inside the model's own file": "Анимации, лежащие в файле самой модели",
    "Motions inside, and those of the motion files the model names, as far as found": (
        "Анимации внутри и анимации из файлов, названных моделью, если они найдены"
    ),
    "Put each model into a collection of its own": "Поместить каждую модель в отдельную коллекцию",
    "The model (.ogf) to import first and put the motions on; empty for the active armature or, where there is none, a "
    "model beside the file that refers to it": (
        "Модель (.ogf), которую импортировать сначала и на которую положить анимации; пусто: активная арматура или, "
        "если её нет, модель рядом с файлом, которая на него ссылается"
    ),
    "The frame the first key goes to": "Кадр, на который попадёт первый ключ",
    "Saving keeps the actions that nothing plays at the moment": (
        "При сохранении остаются и действия, которые сейчас ничто не проигрывает"
    ),
    "Put the keys as far apart as the scene's frame rate asks, so that motions last as long as in the game; without it "
    "a frame is a key": (
        "Расставить ключи по частоте кадров сцены, чтобы анимации длились столько же, сколько в игре; без этого кадр — "
        "это ключ"
    ),
    "Also put each action on a muted NLA track of the armature": (
        "Положить каждое действие ещё и на выключенную дорожку НЛА арматуры"
    ),
    "Set the scene to the game's 30 frames a second and to the length of the first motion": (
        "Задать сцене 30 кадров в секунду, как в игре, и длину первой анимации"
    ),
    "Show the options": "Показать настройки",
    "Import this motion": "Импортировать эту анимацию",
    "Show motions with this in their names; * and ? stand for any letters": (
        "Показать анимации с этим в имени; * и ? заменяют любые буквы"
    ),
    "The filter is a regular expression": "Фильтр — регулярное выражение",
    "Show new and edited motions only": "Показать только новые и изменённые анимации",
    "Tick everything that is shown": "Отметить всё показанное",
    "Untick everything that is shown": "Снять отметки со всего показанного",
    "Tick what is not ticked among what is shown, and the other way round": "Обратить отметки показанного",
    "Without showing the list first": "Не показывая сначала список",
    "Bones with their rest pose, shapes and joints": "Кости с позой покоя, формами и суставами",
    "Meshes with their weights and materials": "Меши с весами и материалами",
    "How many bones a vertex may follow at most": "Сколько костей самое большее влияет на вершину",
    "Clear Sky and Call of Pripyat: a vertex follows up to four bones": (
        "Чистое небо и Зов Припяти: на вершину влияет до четырёх костей"
    ),
    "Shadow of Chernobyl: a vertex follows up to two bones": "Тень Чернобыля: на вершину влияет до двух костей",
    "Keep the old file beside it, with .bak added; an existing backup is kept": (
        "Оставить прежний файл рядом, добавив к имени .bak; имеющаяся копия сохраняется"
    ),
    "Saving into a file that is there keeps the old one beside it, with .bak added to its name; "
    "an existing backup is kept": (
        "При сохранении в имеющийся файл прежний остаётся рядом, с добавкой .bak к имени; имеющаяся копия сохраняется"
    ),
    "What the written file starts from": "На чём основан записываемый файл",
    "The chosen motions alone; what nobody touched keeps its bytes": (
        "Только выбранные анимации; нетронутое остаётся байт в байт"
    ),
    "Motions of the same name are replaced, others added, everything else stays byte for byte": (
        "Анимации с теми же именами заменяются, другие добавляются, всё прочее остаётся байт в байт"
    ),
    "Which actions to write": "Какие действия записать",
    "Every action of the motion file that is chosen in the Motionbridge tab": (
        "Все действия файла анимаций, выбранного на вкладке Motionbridge"
    ),
    "Every action that moves bones of this armature, whatever file it came from": (
        "Все действия, которые двигают кости этой арматуры, из какого бы файла они ни были"
    ),
    "The action that plays at the moment": "Действие, которое сейчас проигрывается",
    "From now on these actions belong to the written file, and Save Back writes it": (
        "Отныне эти действия принадлежат записанному файлу, и кнопка «Сохранить в файл» пишет в него"
    ),
    "How finely translation keys that changed are stored; the status line says the largest error": (
        "Насколько точно хранятся изменённые ключи смещения; наибольшую ошибку сообщает строка состояния"
    ),
    "8 bits where they move no new key by more than 0.1 mm, else 16": (
        "8 бит, если новые ключи сдвигаются не больше чем на 0,1 мм, иначе 16"
    ),
    "Small files, coarse steps": "Малые файлы, грубые шаги",
    "Twice the size, steps 256 times as fine": "Вдвое больше размер, шаги в 256 раз мельче",
    "A motion whose name was changed in the panel takes its new name into the file": (
        "Анимация, переименованная на панели, получит новое имя и в файле"
    ),
    "What it means that the rest pose was edited after the motions were imported": (
        "Что означает правка позы покоя после импорта анимаций"
    ),
    "Do not write before it is decided": "Не писать, пока не решено",
    "What the game showed before the edit is what it shows afterwards": (
        "Что игра показывала до правки, то покажет и после"
    ),
    "The motions follow the new rest pose, as Blender shows them": (
        "Анимации следуют новой позе покоя, как показывает Blender"
    ),
    "Write the editor's motions into the file they came from; says before what will change, and keeps a backup": (
        "Записать анимации редактора в их исходный файл; сначала показывает, что изменится, и оставляет копию"
    ),
    "Write the path that the active object follows into the file it came from; says before what will change": (
        "Записать путь активного объекта в его исходный файл; сначала показывает, что изменится"
    ),
    "Write the model into the file it came from; says before what will change, and keeps a backup": (
        "Записать модель в её исходный файл; сначала показывает, что изменится, и оставляет копию"
    ),
    "Write what of a level the active object is into the file it came from; says before what will change": (
        "Записать данные уровня активного объекта в их исходный файл; сначала показывает, что изменится"
    ),
    "No motions of the editor were imported onto the active armature": (
        "На активный скелет не импортировано анимаций редактора"
    ),
    "The active object follows no path that came from a file": "Активный объект не следует по пути из файла",
    "The active object is of no model that came from a file of its own": (
        "Активный объект не принадлежит модели из отдельного файла"
    ),
    "The active object came from no file of a level": "Активный объект не из файла уровня",
    "Save the motion that plays; all others stay in the file as they are": (
        "Сохранить проигрываемую анимацию; все остальные остаются в файле как есть"
    ),
    "The file on disk is no longer the one that was imported": "Файл на диске уже не тот, что был импортирован",
    "What others changed in it meanwhile stays; only your motions are replaced": (
        "Чужие правки в нём остаются; заменяются только ваши анимации"
    ),
    "What others changed in it meanwhile is overwritten": "Чужие правки в нём затираются",
    "One place up": "На место выше",
    "One place down": "На место ниже",
    "To the beginning": "В начало",
    "To the end": "В конец",
    "The mark's name in the game": "Имя метки в игре",
    "Its place in the active mark": "Его место в активной метке",
    "Seconds; below 0 for the current frame": "Секунды; меньше 0 — текущий кадр",
    "Seconds; below 0 for a frame after the start": "Секунды; меньше 0 — кадр после начала",
    "The game's unpacked textures folder; models that lie in a meshes folder beside it need none": (
        "Распакованная папка текстур игры; моделям из папки meshes рядом с ней она не нужна"
    ),
    "The folder that holds meshes and textures (gamedata), searched for what models refer to": (
        "Папка с meshes и textures (gamedata), где ищется то, на что ссылаются модели"
    ),
    # Tooltips of motions
    "This action is a motion of the game": "Это действие — анимация игры",
    "The motion's name in the game; the action may be called otherwise": (
        "Имя анимации в игре; действие может называться иначе"
    ),
    "Compared with the file the motion came from": "По сравнению с файлом, из которого взята анимация",
    "Not compared with its file since it was imported": "Не сравнивалась с файлом после импорта",
    "Exactly what its file has": "Точно то, что в файле",
    "Differs from what its file has": "Отличается от того, что в файле",
    "Not in the file yet": "В файле её ещё нет",
    "The partition the motion plays on, or for FX the bone; 'all' for the whole body": (
        "Группа костей, на которой играет анимация, а для FX — кость; 'all' — всё тело"
    ),
    "1 plays at 30 frames a second": "1 — 30 кадров в секунду",
    "Weight among motions played together": "Вес среди анимаций, играющих вместе",
    "How fast the motion fades in": "Как быстро анимация нарастает",
    "How fast the motion fades out": "Как быстро анимация затухает",
    "Added on top of other motions, on one bone": "Накладывается на другие анимации, на одной кости",
    "Freezes on the last frame; without it the motion loops": "Замирает на последнем кадре; без флага повторяется",
    "Does not blend with other motions": "Не смешивается с другими анимациями",
    "Keeps in step with the other partitions": "Идёт в ногу с другими группами",
    "Marks 1 and 2 are the feet on the ground": "Метки 1 и 2 — ноги на земле",
    "The root bone moves the character": "Корневая кость двигает персонажа",
    "An idle motion": "Анимация ожидания",
    "The weapon follows its bone": "Оружие следует за своей костью",
    "Seconds from the first frame": "Секунды от первого кадра",
    "Number of the track that moves this bone": "Номер дорожки, которая двигает эту кость",
    "Where the file was read or last written": "Откуда файл прочитан или куда записан последний раз",
    "The motions lie inside the model's own file": "Анимации лежат в файле самой модели",
    "Version of the motion parameters": "Версия параметров анимаций",
    # Tooltips of paths
    "Import motion paths of S.T.A.L.K.E.R. (X-Ray), of cameras and objects: a key for each key of the file": (
        "Импорт путей движения S.T.A.L.K.E.R. (X-Ray), для камер и объектов: по ключу на каждый ключ файла"
    ),
    "Export the active object, camera or curve as a motion path of S.T.A.L.K.E.R. (X-Ray), its keys as they are": (
        "Экспорт активного объекта, камеры или кривой как пути движения S.T.A.L.K.E.R. (X-Ray), ключи как есть"
    ),
    "Set the scene to the frame rate and the length of the path that the active object follows": (
        "Задать сцене частоту кадров и длину пути, которому следует активный объект"
    ),
    "What moves along the path": "Что движется по пути",
    "Each path moves an empty of its own": "Каждый путь движет собственную пустышку",
    "Each path moves an empty with a camera below it that looks where the game looks": (
        "Каждый путь движет пустышку с камерой, которая смотрит туда же, куда игра"
    ),
    "The first path plays on the active object, the others are actions to choose from": (
        "Первый путь играет на активном объекте, остальные — действия на выбор"
    ),
    "Also draw each path as a curve object, with points where the location has keys": (
        "Нарисовать каждый путь ещё и кривой, с точками там, где у положения есть ключи"
    ),
    "Set the scene to the frame rate and the length of the first path": (
        "Задать сцене частоту кадров и длину первого пути"
    ),
    "Version of the file to write": "Версия записываемого файла",
    "The version the path came in; for new paths version 3, which stores handles exactly": (
        "Версия, в которой путь пришёл; для новых путей версия 3, где рукоятки хранятся точно"
    ),
    "Full numbers; every engine and editor reads it": "Полные числа; читают все движки и редакторы",
    "Handles in steps of 0.98 ms; only old builds write it": (
        "Рукоятки с шагом 0,98 мс; эту версию пишут только старые сборки"
    ),
    "Handles in steps of 0.98 ms, as the last editors write it": (
        "Рукоятки с шагом 0,98 мс, как пишут последние редакторы"
    ),
    "How far the fitted curve may lie from where the object is, where it has to be sampled; also when steps of stored "
    "handles are worth a warning": (
        "Насколько подобранная кривая может отстоять от объекта там, где нужна выборка; и когда предупреждать о шаге "
        "хранимых рукояток"
    ),
    "The same for rotations, in degrees": "То же для поворотов, в градусах",
    "What moves along a curve object tilts as the curve does": "Движущееся по кривой наклоняется вместе с ней",
    "This action is a motion path of the game": "Это действие — путь движения игры",
    "The path's name in the game": "Имя пути в игре",
    "Where the path was read": "Откуда прочитан путь",
    # Tooltips of models
    "This object came from a model of the game": "Этот объект — из модели игры",
    "Where the model was read": "Откуда прочитана модель",
    "Settings of the model, in the form of an ini file": "Настройки модели в виде ini-файла",
    "Numbers that lead to the mesh inside the model": "Номера, ведущие к мешу внутри модели",
    "The texture as the game names it: below its textures folder, without suffix": (
        "Текстура, как её называет игра: от папки textures, без расширения"
    ),
    "The shader as the game names it": "Шейдер, как его называет игра",
    "The bone came from a model of the game": "Кость — из модели игры",
    "The bone's place in the model, which vertices and motions count by": (
        "Место кости в модели, по которому считают вершины и анимации"
    ),
    "The bone's name in the game": "Имя кости в игре",
    "Rest rotation as stored, about the game's x, y and z": "Поворот покоя, как он записан: вокруг x, y и z игры",
    "Rest position as stored, in the parent's axes": "Положение покоя, как оно записано: в осях родителя",
    "What the bone is made of: sounds, marks, hits": "Из чего сделана кость: звуки, следы, попадания",
    "What the bone collides as": "Чем кость сталкивается",
    "What the shape is left out of": "В чём форма не участвует",
    "The bone collides with nothing": "Кость ни с чем не сталкивается",
    "The box counts": "Действует параллелепипед",
    "The sphere counts": "Действует сфера",
    "The cylinder counts": "Действует цилиндр",
    "A number without known meaning; kept as it is": "Число с неизвестным смыслом; остаётся как есть",
    "Rays pass through": "Лучи проходят насквозь",
    "The shape goes when the joint breaks": "Форма исчезает, когда сустав ломается",
    "Not simulated": "Не участвует в физике",
    "Volumetric fog passes through": "Объёмный туман проходит насквозь",
    "Axes of the box, row by row": "Оси параллелепипеда, по строкам",
    "Middle of the box, in the bone's axes": "Середина параллелепипеда в осях кости",
    "From the middle to the sides": "От середины до сторон",
    "Middle of the sphere, in the bone's axes": "Середина сферы в осях кости",
    "Radius of the sphere": "Радиус сферы",
    "Middle of the cylinder": "Середина цилиндра",
    "Axis of the cylinder": "Ось цилиндра",
    "Length of the cylinder": "Длина цилиндра",
    "Radius of the cylinder": "Радиус цилиндра",
    "How the bone hangs on its parent": "Как кость держится на родителе",
    "Does not move against its parent": "Не движется относительно родителя",
    "Bends freely": "Свободно гнётся",
    "Turns within the limits": "Поворачивается в пределах",
    "Rolls; the limits of x are the steering": "Катится; пределы x — поворот руля",
    "Hangs on nothing": "Ни на чём не держится",
    "Slides along its axis": "Скользит вдоль своей оси",
    "Lowest angle": "Наименьший угол",
    "Highest angle": "Наибольший угол",
    "How strongly the limit pushes back": "Как сильно предел отталкивает",
    "How much the limit slows the joint down": "Как сильно предел тормозит сустав",
    "Stiffness of the joint": "Жёсткость сустава",
    "Damping of the joint": "Демпфирование сустава",
    "The joint can break": "Сустав может сломаться",
    "Force that breaks the joint": "Сила, которая ломает сустав",
    "Torque that breaks the joint": "Момент, который ломает сустав",
    "Friction of the joint": "Трение сустава",
    "Kilogrammes": "Килограммы",
    "Cancel the export and ask for a choice": "Отменить экспорт и попросить выбрать",
    "Export the keys, and set the bones back to the rotation mode that plays them": (
        "Экспортировать ключи и вернуть костям режим вращения, который их играет"
    ),
    "Export what Blender shows, without these keys": "Экспортировать то, что показывает Blender, без этих ключей",
    "How to export bones whose rotation mode is not that of their keys, which Blender does not show": (
        "Как экспортировать кости, режим вращения которых не тот, что у их ключей: Blender эти ключи не показывает"
    ),
    "Set bones to the rotation mode that plays their keys in the active action": (
        "Вернуть костям режим вращения, который играет их ключи в активном действии"
    ),
    "Middle of the mass, in the bone's axes": "Середина массы в осях кости",
}
