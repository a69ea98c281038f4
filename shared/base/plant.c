/* plant.c: which bug is planted. Of test builds only. */
#include "base/plant.h"

#ifdef HERD_PLANTS

#include <stdlib.h>
#include <string.h>

static const char *const names[PLANT_COUNT] = {
#define PLANT(id, name, row, place, test, found, breaks) name,
#include "base/plants.def"
#undef PLANT
};

bool plant_is(enum plant plant)
{
    const char *wanted = getenv("HERD_PLANT");

    return wanted && strcmp(wanted, names[plant]) == 0;
}

#else
/* ISO C wants something in every file. */
typedef int plant_nothing;
#endif
