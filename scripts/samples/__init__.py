"""Sources of the committed samples: skeletons, meshes, motions and files of each game."""
