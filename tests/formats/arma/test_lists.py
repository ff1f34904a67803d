"""The lists of names that the games know agree with each other."""

from addon.formats.arma import lists, lod_kinds, new_lods


def test_what_new_lods_get_is_in_the_lists():
    for model in new_lods.PROPERTIES:
        for word in lod_kinds.BY_WORD:
            for game in (lists.ARMA3, lists.DAYZ):
                wanted = new_lods.named_properties(game, model, word, has_shadow=True)
                assert set(wanted) <= set(lists.properties_of(word)), (word, wanted)
                assert all(value in lists.values_of(name) for name, value in wanted.items()), wanted
    assert "house" in lists.values_of(" Class ")
    assert lists.values_of("author's own") == ()


def test_names_are_written_as_binarize_writes_them():
    assert [name for name in lists.NAMED_PROPERTIES if name != name.lower().strip()] == []
    paths = [*lists.penetration_materials(), *lists.PROXIES]
    assert [path for path in paths if path != path.lower() or "/" in path or path.startswith("\\")] == []
    assert len({*paths}) == len(paths)


def test_memory_points_are_those_of_a_new_model():
    cube = new_lods.np.eye(3, dtype="f4")
    assert set(new_lods.memory_points(lists.DAYZ, new_lods.ITEM, cube)) == set(lists.MEMORY_POINTS)
