/* SPDX-License-Identifier: Apache-2.0 */
/* rng.h: randomness as an argument. Not for secrets. */
#ifndef HERD_BASE_RNG_H
#define HERD_BASE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state;
};

static inline struct rng rng_from_seed(uint64_t seed)
{
    return (struct rng){ seed };
}

/* splitmix64 (Steele, Lea, Flood 2014): any seed will do. */
static inline uint64_t rng_next(struct rng *rng)
{
    uint64_t z = (rng->state += 0x9e3779b97f4a7c15ULL);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

/* 0 <= result < bound; bound > 0. */
static inline uint64_t rng_below(struct rng *rng, uint64_t bound)
{
    return (uint64_t)(((unsigned __int128)rng_next(rng) * bound) >> 64);
}

#endif
