"""Where mobility agents live: the map, its places and its people. Knows no benchmark."""
