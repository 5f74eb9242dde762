"""A package as projects for Warp are: `import warp as wp`, and no word of kbuild."""
