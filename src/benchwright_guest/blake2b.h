/* BLAKE2b (RFC 7693) for short keyed digests; little-endian machines only, as x86_64 and aarch64 are. */
#include <stdint.h>
#include <string.h>

static const uint64_t blake_iv[8] = {
    0x6a09e667f3bcc908ULL, 0xbb67ae8584caa73bULL, 0x3c6ef372fe94f82bULL, 0xa54ff53a5f1d36f1ULL,
    0x510e527fade682d1ULL, 0x9b05688c2b3e6c1fULL, 0x1f83d9abfb41bd6bULL, 0x5be0cd19137e2179ULL};
static const uint8_t blake_order[12][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3}};

typedef struct {
    uint64_t state[8], counter;
    unsigned char block[128];
    size_t filled;
} Blake;

static uint64_t turn(uint64_t x, int n) { return (x >> n) | (x << (64 - n)); }

static void blake_mix(uint64_t *v, int a, int b, int c, int d, uint64_t x, uint64_t y) {
    v[a] += v[b] + x;
    v[d] = turn(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = turn(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = turn(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = turn(v[b] ^ v[c], 63);
}

static void blake_compress(Blake *b, int last) {
    uint64_t v[16], m[16];
    memcpy(v, b->state, 64);
    memcpy(v + 8, blake_iv, 64);
    v[12] ^= b->counter;
    if (last) v[14] = ~v[14];
    memcpy(m, b->block, 128);
    for (int round = 0; round < 12; round++) {
        const uint8_t *s = blake_order[round];
        blake_mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]]);
        blake_mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]]);
        blake_mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]]);
        blake_mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]]);
        blake_mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]]);
        blake_mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]]);
        blake_mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]]);
        blake_mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]]);
    }
    for (int i = 0; i < 8; i++) b->state[i] ^= v[i] ^ v[i + 8];
}

static void blake_update(Blake *b, const void *data, size_t size) {
    const unsigned char *from = data;
    while (size) {
        if (b->filled == 128) {
            b->counter += 128;
            blake_compress(b, 0);
            b->filled = 0;
        }
        size_t part = 128 - b->filled < size ? 128 - b->filled : size;
        memcpy(b->block + b->filled, from, part);
        b->filled += part;
        from += part;
        size -= part;
    }
}

