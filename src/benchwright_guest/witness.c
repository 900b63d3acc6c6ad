/* The witness: signs what the driver reports, and sees what an answer does to the machinery around it.
 *
 * Loaded by the mother with ctypes.PyDLL and armed once in every child, before the answer is there.  It lives in
 * one C audit hook: no Python object leads to the key, the sequence counter or the fingerprint, and no Python code
 * (signal handler, gc callback, trace function) can run while it works.  Built without Python's headers, from the
 * stable functions declared below, so that one build serves every CPython from 3.8 on.
 *
 * Frames: see frames.py.  What it looks for: see guard.py, which holds the same rules for machines without a C
 * compiler.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct _object PyObject;
typedef intptr_t Py_ssize_t;

extern int PySys_AddAuditHook(int (*)(const char *, PyObject *, void *), void *);
extern PyObject *PyEval_GetFrame(void);
extern PyObject *PyObject_GetAttrString(PyObject *, const char *);
extern PyObject *PyObject_GetItem(PyObject *, PyObject *);
extern Py_ssize_t PyTuple_Size(PyObject *);
extern PyObject *PyTuple_GetItem(PyObject *, Py_ssize_t);
extern const char *PyUnicode_AsUTF8AndSize(PyObject *, Py_ssize_t *);
extern void Py_IncRef(PyObject *);
extern void Py_DecRef(PyObject *);
extern void PyErr_Clear(void);
extern PyObject _Py_NoneStruct;

enum { KEY_BYTES = 32, SIGNATURE_BYTES = 16, MAX_FRAME = 1 << 20, MAX_NOTES = 64, MAX_CODES = 4096, TEXT = 200 };

static struct {
    int armed, channel;
    pid_t pid;
    pthread_t thread;
    unsigned char key[KEY_BYTES];
    uint64_t sequence;
    PyObject *rows, *prefixes;
    void *codes[MAX_CODES];
    size_t code_count;
    char notes[MAX_NOTES][TEXT];
    size_t note_count;
} w;

/* ---- BLAKE2b (RFC 7693), keyed, 16 bytes out ---- */

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
    memcpy(m, b->block, 128); /* little-endian machines only, as x86_64 and aarch64 are */
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

static void sign(const unsigned char *payload, size_t size, unsigned char out[SIGNATURE_BYTES]) {
    Blake b = {.counter = 0, .filled = 0};
    memcpy(b.state, blake_iv, 64);
    b.state[0] ^= 0x01010000 ^ (KEY_BYTES << 8) ^ SIGNATURE_BYTES;
    unsigned char first[128] = {0}, number[8];
    memcpy(first, w.key, KEY_BYTES);
    blake_update(&b, first, 128);
    for (int i = 0; i < 8; i++) number[i] = (unsigned char)(w.sequence >> (56 - 8 * i));
    blake_update(&b, number, 8);
    blake_update(&b, payload, size);
    b.counter += b.filled;
    memset(b.block + b.filled, 0, 128 - b.filled);
    blake_compress(&b, 1);
    memcpy(out, b.state, SIGNATURE_BYTES);
}

/* ---- sending ---- */

static int write_all(const void *data, size_t size) {
    const char *from = data;
    while (size) {
        ssize_t done = write(w.channel, from, size);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return -1;
        from += done;
        size -= (size_t)done;
    }
    return 0;
}

static void send_payload(const char *payload, size_t size) {
    unsigned char head[4 + SIGNATURE_BYTES];
    for (int i = 0; i < 4; i++) head[i] = (unsigned char)(size >> (24 - 8 * i));
    sign((const unsigned char *)payload, size, head + 4);
    w.sequence++;
    if (write_all(head, sizeof head) == 0) write_all(payload, size);
}

static void note(const char *what, const char *subject) {
    char text[TEXT];
    snprintf(text, sizeof text, what, subject ? subject : "");
    for (char *c = text; *c; c++)
        if (*c == '"' || *c == '\\' || (unsigned char)*c < 32 || (unsigned char)*c > 126) *c = '?';
    for (size_t i = 0; i < w.note_count; i++)
        if (!strcmp(w.notes[i], text)) return;
    if (w.note_count == MAX_NOTES) return;
    strcpy(w.notes[w.note_count++], text);
    char payload[TEXT + 64];
    int size = snprintf(payload, sizeof payload, "{\"kind\":\"note\",\"level\":\"interference\",\"what\":\"%s\"}", text);
    send_payload(payload, (size_t)size);
}

/* ---- who is asking ---- */

static int is_guest_code(void *code) {
    for (size_t i = 0; i < w.code_count; i++)
        if (w.codes[i] == code) return 1;
    return 0;
}

static PyObject *attribute(PyObject *object, const char *name) {
    PyObject *value = PyObject_GetAttrString(object, name);
    if (!value) PyErr_Clear();
    return value;
}

/* Whether every frame from the current one to the bottom is the guest's own. */
static int only_driver(void) {
    PyObject *frame = PyEval_GetFrame();
    if (!frame) return 0;
    Py_IncRef(frame);
    int genuine = 1;
    while (genuine && frame && frame != &_Py_NoneStruct) {
        PyObject *code = attribute(frame, "f_code");
        genuine = code && is_guest_code(code);
        if (code) Py_DecRef(code);
        PyObject *back = attribute(frame, "f_back");
        Py_DecRef(frame);
        frame = back;
    }
    if (frame) Py_DecRef(frame);
    return genuine;
}

static int below_a_prefix(const char *path) {
    Py_ssize_t count = PyTuple_Size(w.prefixes);
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t size;
        const char *prefix = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(w.prefixes, i), &size);
        if (prefix && !strncmp(path, prefix, (size_t)size)) return 1;
    }
    return !strncmp(path, "<frozen", 7);
}

static int code_from_environment(PyObject *code) {
    if (is_guest_code(code)) return 1;
    PyObject *name = attribute(code, "co_filename");
    const char *path = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    if (!path) PyErr_Clear();
    int result = path && below_a_prefix(path);
    if (name) Py_DecRef(name);
    return result;
}

/* Whether the code that runs now is part of the environment rather than of an answer or a test. */
static int caller_is_environment(void) {
    PyObject *frame = PyEval_GetFrame();
    PyObject *code = frame ? attribute(frame, "f_code") : NULL;
    int result = code ? code_from_environment(code) : 1;
    if (code) Py_DecRef(code);
    return result;
}

/* ---- what is looked at ---- */

static const char *text_argument(PyObject *arguments, Py_ssize_t index) {
    if (!arguments || index >= PyTuple_Size(arguments)) {
        PyErr_Clear();
        return NULL;
    }
    const char *text = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(arguments, index), NULL);
    if (!text) PyErr_Clear();
    return text;
}

static void compare_machinery(void) {
    Py_ssize_t count = PyTuple_Size(w.rows);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *row = PyTuple_GetItem(w.rows, i);
        PyObject *key = PyTuple_GetItem(row, 2);
        PyObject *found = PyObject_GetItem(PyTuple_GetItem(row, 1), key);
        if (!found) PyErr_Clear();
        if (found != PyTuple_GetItem(row, 3)) {
            char name[TEXT];
            const char *label = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(row, 0), NULL);
            const char *attribute_name = PyUnicode_AsUTF8AndSize(key, NULL);
            snprintf(name, sizeof name, "%s.%s", label ? label : "?", attribute_name ? attribute_name : "?");
            PyErr_Clear();
            note("%s was replaced", name);
        }
        if (found) Py_DecRef(found);
    }
}

static void deliver(PyObject *arguments) {
    if (getpid() != w.pid || !pthread_equal(pthread_self(), w.thread) || !only_driver()) {
        note("a report came from outside the driver", NULL);
        return;
    }
    compare_machinery();
    Py_ssize_t size;
    const char *payload = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(arguments, 0), &size);
    if (!payload || size > MAX_FRAME) {
        PyErr_Clear();
        note("a report could not be read", NULL);
        return;
    }
    send_payload(payload, (size_t)size);
}

static int ends_with(const char *text, const char *end) {
    size_t a = strlen(text), b = strlen(end);
    return a >= b && !strcmp(text + a - b, end);
}

static void look_at_attribute(PyObject *arguments) {
    const char *name = text_argument(arguments, 1);
    if (!name || (strcmp(name, "__code__") && strcmp(name, "__defaults__") && strcmp(name, "__kwdefaults__"))) return;
    if (caller_is_environment()) return;
    PyObject *code = attribute(PyTuple_GetItem(arguments, 0), "__code__");
    PyObject *file = code ? attribute(code, "co_filename") : NULL;
    const char *path = file ? PyUnicode_AsUTF8AndSize(file, NULL) : NULL;
    if (path && (!strcmp(path, "tests.py") || code_from_environment(code))) note("changed %s of a function", name);
    PyErr_Clear();
    if (file) Py_DecRef(file);
    if (code) Py_DecRef(code);
}

static const char *const tripwires[][2] = {
    {"gc.get_objects", "searched the interpreter's objects (gc.get_objects)"},
    {"gc.get_referrers", "searched the interpreter's objects (gc.get_referrers)"},
    {"gc.get_referents", "searched the interpreter's objects (gc.get_referents)"},
    {"sys._current_frames", "looked at the frames of all threads"},
    {"sys.settrace", "set a trace function"},
    {"sys.addaudithook", "added an audit hook"},
    {"ctypes.string_at", "read raw memory (ctypes.string_at)"},
    {"ctypes.wstring_at", "read raw memory (ctypes.wstring_at)"},
    {"ctypes.cdata", "mapped raw memory (ctypes from_address)"},
};

static int hook(const char *event, PyObject *arguments, void *nothing) {
    (void)nothing;
    if (!w.armed) return 0;
    switch (event[0]) {
    case 'b':
        if (!strcmp(event, "benchwright.report")) deliver(arguments);
        break;
    case 'o':
        if (!strcmp(event, "object.__setattr__")) {
            look_at_attribute(arguments);
        } else if (!strcmp(event, "open")) {
            const char *path = text_argument(arguments, 0);
            if (path && !strncmp(path, "/proc/", 6) && (ends_with(path, "/mem") || ends_with(path, "/pagemap")))
                note("opened %s", path);
        }
        break;
    case 'i':
        if (!strcmp(event, "import")) {
            const char *name = text_argument(arguments, 0);
            if (name && !strcmp(name, "gc")) note("imported gc anew", NULL);
        }
        break;
    case 'c':
        if (!strcmp(event, "compile")) {
            const char *name = text_argument(arguments, 1);
            if (name && below_a_prefix(name) && !caller_is_environment())
                note("compiled code under the name of an environment file", NULL);
            break;
        }
        if (!strcmp(event, "ctypes.dlsym")) {
            const char *name = text_argument(arguments, 1);
            if (name && (!strncmp(name, "Py", 2) || !strncmp(name, "_Py", 3)) && !caller_is_environment())
                note("looked up interpreter symbol %s", name);
            break;
        }
        /* fall through */
    default:
        for (size_t i = 0; i < sizeof tripwires / sizeof *tripwires; i++)
            if (!strcmp(event, tripwires[i][0]) && !caller_is_environment()) note(tripwires[i][1], NULL);
    }
    return 0;
}

/* Read the key from the channel and start to watch.  Returns 0, or -1 when it cannot (then nothing is armed). */
int bw_arm(int channel, PyObject *codes, PyObject *rows, PyObject *prefixes) {
    if (w.armed) {
        note("the witness was called again", NULL);
        return -1;
    }
    size_t have = 0;
    while (have < KEY_BYTES) {
        ssize_t got = read(channel, w.key + have, KEY_BYTES - have);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return -1;
        have += (size_t)got;
    }
    Py_ssize_t count = PyTuple_Size(codes);
    if (count < 0 || count > MAX_CODES) return -1;
    for (Py_ssize_t i = 0; i < count; i++) w.codes[i] = PyTuple_GetItem(codes, i);
    w.code_count = (size_t)count;
    Py_IncRef(codes);
    Py_IncRef(rows);
    Py_IncRef(prefixes);
    w.rows = rows;
    w.prefixes = prefixes;
    w.channel = channel;
    w.pid = getpid();
    w.thread = pthread_self();
    if (PySys_AddAuditHook(hook, NULL) < 0) return -1;
    w.armed = 1;
    return 0;
}
