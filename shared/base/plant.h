/* plant.h: bugs on purpose, so that tests show that they find them.
 *
 * A build for tests (HERD_PLANTS) has those of plants.def, and shows the one that the environment's
 * HERD_PLANT names. In all other builds PLANTED() is a constant, and nothing of this is in them. */
#ifndef HERD_BASE_PLANT_H
#define HERD_BASE_PLANT_H

#include <stdbool.h>

#ifdef HERD_PLANTS

enum plant {
#define PLANT(id, name, row, place, test, found, breaks) PLANT_##id,
#include "base/plants.def"
#undef PLANT
    PLANT_COUNT
};

bool plant_is(enum plant plant);
#define PLANTED(id) plant_is(PLANT_##id)

#else
#define PLANTED(id) false
#endif

#endif
