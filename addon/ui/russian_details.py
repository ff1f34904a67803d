"""Russian texts about what grows on a level's ground, by the English of the source."""

from __future__ import annotations

DETAILS: dict[str, str] = {
    "Add": "Добавить",
    "Add Selected Meshes": "Добавить выделенные меши",
    "Added detail models: {}": "Добавлено моделей травы: {}",
    "As It Is": "Как сейчас",
    "Change how high the slot is": "Изменить высоту слота",
    "Change light and colour (files of version 3)": "Изменить освещение и цвет (файлы версии 3)",
    "Change one of the four models, with its densities": "Изменить одну из четырёх моделей и её плотности",
    "Change the height of the ground": "Изменить высоту земли",
    "Changed slots: {} of {} selected": "Изменено слотов: {} из {} выделенных",
    "Colour": "Цвет",
    "Colour By": "Цвет по",
    "Colour By: {}": "Цвет по: {}",
    "Colour the faces by what their attributes say now, also after a script has changed these": (
        "Окрасить грани по их нынешним атрибутам, в том числе изменённым скриптом"
    ),
    "Density": "Плотность",
    "Density Near Left": "Плотность ближе слева",
    "Detail Objects": "Трава уровня",
    "Far Left": "Дальше слева",
    "Far Right": "Дальше справа",
    "First": "Первая",
    "Fourth": "Четвёртая",
    "Ground": "Земля",
    "Height": "Высота",
    "Height of the slot's lower side": "Высота нижней стороны слота",
    "How densely it stands at the slot's corners: near left, near right, far left, far right": (
        "Насколько густо она стоит в углах слота: ближний левый, ближний правый, дальний левый, дальний правый"
    ),
    "How densely the slot is planted, all models together": "Насколько густо засажен слот, все модели вместе",
    "How far above its lower side the slot reaches: plants stand on what of the level lies in between": (
        "Насколько слот выше своей нижней стороны: трава стоит на том, что есть на уровне между ними"
    ),
    "How much light of the sky falls on it": "Сколько света неба на него падает",
    "How much light of the sun falls on it": "Сколько света солнца на него падает",
    "Import collision, occluders, sound occluders, detail objects, errors of a S.T.A.L.K.E.R. (X-Ray) level": (
        "Импорт столкновений, окклюдеров, звуковых окклюдеров, травы и ошибок уровня S.T.A.L.K.E.R. (X-Ray)"
    ),
    "Its origin stands in the ground": "Её начало координат стоит в земле",
    "Let the other selected mesh grow wherever the chosen detail model does, which is removed": (
        "Посадить другой выделенный меш везде, где растёт выбранная модель травы; она удаляется"
    ),
    "Make the other selected meshes detail models of the ground, numbered behind those it has": (
        "Сделать другие выделенные меши моделями травы этой земли, с номерами после имеющихся"
    ),
    "Metres between the places where a plant may stand": "Метры между местами, где может стоять растение",
    "Most Plants": "Не больше растений",
    "Near Right": "Ближе справа",
    "No more than these are shown": "Больше этого не показывается",
    "Not all of the ground": "Не вся земля",
    "Nothing is scattered": "Ничего не рассыпано",
    "Nothing is scattered any more": "Больше ничего не рассыпано",
    "Number of the detail model, -1 for none": "Номер модели травы, -1 — нет",
    "One of the four models that a slot can have": "Одна из четырёх моделей, которые могут быть у слота",
    "Place": "Место",
    "Places and turns are a preview": "Места и повороты — лишь предпросмотр",
    "Plants: {}, a preview": "Растений: {}, предпросмотр",
    "Refresh Colours": "Обновить цвета",
    "Remove": "Удалить",
    "Remove Model": "Удалить модель",
    "Remove Scattered": "Убрать рассыпанное",
    "Remove the chosen detail model, and where it grows; the others are numbered anew in the file": (
        "Удалить выбранную модель травы отовсюду, где она растёт; остальные в файле нумеруются заново"
    ),
    "Replace": "Заменить",
    "Replace by Selected Mesh": "Заменить выделенным мешем",
    "Scatter Models": "Рассыпать модели",
    "Second": "Вторая",
    "Select Its Slots": "Выделить её слоты",
    "Select the slots where the chosen detail model grows, in edit mode": (
        "Выделить слоты, где растёт выбранная модель травы, в режиме правки"
    ),
    "Selected Slots Only": "Только выделенные слоты",
    "Selected slots: {}": "Выделено слотов: {}",
    "Set Ground": "Задать землю",
    "Set Height": "Задать высоту",
    "Set Light": "Задать освещение",
    "Set Model": "Задать модель",
    "Set Slots": "Задать слоты",
    "Set plants down on the collision that is in the scene, where it lies within the slot's height": (
        "Ставить растения на столкновения из сцены, где они лежат в пределах высоты слота"
    ),
    "Set what grows on the selected slots, how high they are, and their light": (
        "Задать, что растёт в выделенных слотах, их высоту и освещение"
    ),
    "Show plants, a preview: models, densities and scales are the file's, places and turns not quite the game's": (
        "Показать растения для предпросмотра: модели, плотности и размеры из файла, места и повороты не совсем игровые"
    ),
    "Sky": "Небо",
    "Spacing": "Промежуток",
    "Stand on Collision": "Ставить на столкновения",
    "Sun": "Солнце",
    "Take the scattered models away": "Убрать рассыпанные модели",
    "The active object is no ground of a level (.details)": "Активный объект не земля уровня (.details)",
    "The active object is no mesh whose colours show attributes": "Активный объект не меш, цвета которого из атрибутов",
    "The colour of other light that falls on it": "Цвет прочего света, который на него падает",
    "The colours show the attributes": "Цвета показывают атрибуты",
    "The ground in slots, and what of grass and litter grows there (level.details)": (
        "Земля по слотам и то, какая трава и мусор на ней (level.details)"
    ),
    "Third": "Третья",
    "What is shown now": "То, что показано сейчас",
    "What of slots is shown": "Что показывают слоты",
    "Which detail model stands there the densest": "Какая модель травы стоит там гуще всего",
    "Which of the level's detail models it is; -1: none yet, it is numbered behind them": (
        "Которая это из моделей травы уровня; -1: ещё никакая, получит номер после них"
    ),
    "Which of the slot's four models": "Которая из четырёх моделей слота",
    "new": "новая",
    "no model of this number": "нет модели с таким номером",
    "none": "нет",
    "{} grows now": "Теперь растёт {}",
    "{} is removed, with the places it grew in: {}": "{} удалена; мест, где она росла: {}",
}
