/* The witness: runs the tests, signs what came of them, and sees what an answer does to the machinery around it.
 *
 * Loaded by the mother with ctypes.PyDLL and armed once in every child, before the answer is there.  The key, the
 * plan, the loop over the tests and each outcome live here: no Python name, frame or closure leads to them, and
 * whether a test passed is whether its call raised, decided in C.  One C audit hook sees attempts to look for what
 * is hidden.  Built without Python's headers, from the stable functions declared below, so that one build serves
 * every CPython from 3.8 on.  Frames: see frames.py.  What cannot be kept from native code: docs/explanation/trust.md.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "blake2b.h"

typedef struct _object PyObject;
typedef intptr_t Py_ssize_t;

extern int PySys_AddAuditHook(int (*)(const char *, PyObject *, void *), void *);
extern PyObject *PyEval_GetFrame(void);
extern PyObject *PyObject_GetAttrString(PyObject *, const char *);
extern PyObject *PyObject_GetItem(PyObject *, PyObject *);
extern PyObject *PyObject_Type(PyObject *);
extern PyObject *PyObject_CallFunctionObjArgs(PyObject *, ...);
extern Py_ssize_t PyObject_Size(PyObject *);
extern int PyObject_IsTrue(PyObject *);
extern Py_ssize_t PyTuple_Size(PyObject *);
extern PyObject *PyTuple_GetItem(PyObject *, Py_ssize_t);
extern PyObject *PyList_GetItem(PyObject *, Py_ssize_t);
extern Py_ssize_t PyList_Size(PyObject *);
extern int PyList_SetSlice(PyObject *, Py_ssize_t, Py_ssize_t, PyObject *);
extern PyObject *PyObject_Call(PyObject *, PyObject *, PyObject *);
extern PyObject *PyDict_GetItem(PyObject *, PyObject *);
extern PyObject *PyDict_GetItemString(PyObject *, const char *);
extern const char *PyUnicode_AsUTF8AndSize(PyObject *, Py_ssize_t *);
extern unsigned long PyType_GetFlags(PyObject *);
extern void Py_IncRef(PyObject *);
extern void Py_DecRef(PyObject *);
extern void PyErr_Clear(void);
extern int PyErr_ExceptionMatches(PyObject *);
extern void PyErr_Fetch(PyObject **, PyObject **, PyObject **);
extern void PyErr_NormalizeException(PyObject **, PyObject **, PyObject **);
extern int PyException_SetTraceback(PyObject *, PyObject *);
extern PyObject _Py_NoneStruct;
extern PyObject *PyExc_AssertionError;

enum {
    KEY_BYTES = 32, SIGNATURE_BYTES = 16, MAX_FRAME = 1 << 20, MAX_NOTES = 64, MAX_CODES = 4096, MAX_TESTS = 1024,
    MAX_CLEANUPS = 10000, TEXT = 200, TP_FLAGS_OFFSET = 168
};

typedef struct {
    PyObject *id, *name, *code, *function;
    int decorated, may_skip;
} Test;

/* What is fixed before an answer is loaded; see guard.py, which hands it over. */
static struct {
    int armed, planned, running, channel;
    pid_t pid;
    pthread_t thread;
    unsigned char key[KEY_BYTES];
    uint64_t sequence;
    PyObject *stdlib, *libraries, *function_type, *test_case, *skip_test, *builtins, *run_coroutine;
    PyObject *rows, *sizes, *module, *class_name;
    int plain_bases;
    Test tests[MAX_TESTS];
    size_t test_count;
    void *codes[MAX_CODES];
    size_t code_count;
    char notes[MAX_NOTES][TEXT];
    size_t note_count;
} w;

/* ---- signing and sending ---- */

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
    if (getpid() != w.pid || size > MAX_FRAME) return; /* a forked copy of this process speaks for nobody */
    for (int i = 0; i < 4; i++) head[i] = (unsigned char)(size >> (24 - 8 * i));
    sign((const unsigned char *)payload, size, head + 4);
    w.sequence++;
    if (write_all(head, sizeof head) == 0) write_all(payload, size);
}

/* A JSON text that grows; whatever cannot be had is left out rather than failing. */
typedef struct {
    char *data;
    size_t size, room;
} Text;

static void put(Text *t, const char *from, size_t size) {
    if (t->size + size + 1 > t->room) {
        size_t room = 2 * (t->size + size) + 256;
        char *data = realloc(t->data, room);
        if (!data) return;
        t->data = data;
        t->room = room;
    }
    memcpy(t->data + t->size, from, size);
    t->size += size;
    t->data[t->size] = 0;
}

static void put_plain(Text *t, const char *text) { put(t, text, strlen(text)); }

static void put_string(Text *t, const char *text, size_t size) {
    put(t, "\"", 1);
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\') {
            char pair[2] = {'\\', (char)c};
            put(t, pair, 2);
        } else if (c < 32 || c == 127) {
            char code[8];
            put(t, code, (size_t)snprintf(code, sizeof code, "\\u%04x", c));
        } else {
            put(t, text + i, 1);
        }
    }
    put(t, "\"", 1);
}

static void put_unicode(Text *t, PyObject *text) {
    Py_ssize_t size = 0;
    const char *data = text ? PyUnicode_AsUTF8AndSize(text, &size) : NULL;
    if (!data) PyErr_Clear();
    put_string(t, data ? data : "", data ? (size_t)size : 0);
}

static void send_text(Text *t) {
    if (t->data) send_payload(t->data, t->size);
    free(t->data);
}

static void remark(const char *level, const char *what, const char *subject) {
    char text[TEXT];
    snprintf(text, sizeof text, what, subject ? subject : "");
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 32 || (unsigned char)*c > 126) *c = '?';
    for (size_t i = 0; i < w.note_count; i++)
        if (!strcmp(w.notes[i], text)) return;
    if (w.note_count == MAX_NOTES) return;
    strcpy(w.notes[w.note_count++], text);
    Text t = {0};
    put_plain(&t, "{\"kind\":\"note\",\"level\":\"");
    put_plain(&t, level);
    put_plain(&t, "\",\"what\":");
    put_string(&t, text, strlen(text));
    put_plain(&t, "}");
    send_text(&t);
}

static void note(const char *what, const char *subject) { remark("interference", what, subject); }

/* ---- who is asking ---- */

static PyObject *attribute(PyObject *object, const char *name) {
    PyObject *value = object ? PyObject_GetAttrString(object, name) : NULL;
    if (!value) PyErr_Clear();
    return value;
}

static void drop(PyObject *object) {
    if (object) Py_DecRef(object);
}

static int is_guest_code(void *code) {
    for (size_t i = 0; i < w.code_count; i++)
        if (w.codes[i] == code) return 1;
    return 0;
}

static int begins_with_one_of(const char *path, PyObject *prefixes) {
    Py_ssize_t count = PyTuple_Size(prefixes);
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t size;
        const char *prefix = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(prefixes, i), &size);
        if (prefix && !strncmp(path, prefix, (size_t)size)) return 1;
    }
    return 0;
}

static int is_library(const char *path) {
    return begins_with_one_of(path, w.libraries) || strstr(path, "/site-packages/") != NULL;
}

/* The standard library runs whatever it is given (threads, pools, ctypes), so it answers for nobody. */
static int is_stdlib(const char *path) {
    return !strncmp(path, "<frozen", 7) || (begins_with_one_of(path, w.stdlib) && !is_library(path));
}

enum { GUEST, LIBRARY, STDLIB, FOREIGN };

static int origin_of(PyObject *code) {
    if (is_guest_code(code)) return GUEST;
    PyObject *name = attribute(code, "co_filename");
    const char *path = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    if (!path) PyErr_Clear();
    int origin = !path ? FOREIGN : is_stdlib(path) ? STDLIB : is_library(path) ? LIBRARY : FOREIGN;
    drop(name);
    return origin;
}

/* The origin of the innermost frame that is not the standard library's; FOREIGN where there is none. */
static int who_asks(void) {
    PyObject *frame = PyEval_GetFrame();
    if (frame) Py_IncRef(frame);
    int origin = frame ? STDLIB : GUEST;
    while (frame && frame != &_Py_NoneStruct && origin == STDLIB) {
        PyObject *code = attribute(frame, "f_code");
        if (code) origin = origin_of(code);
        drop(code);
        PyObject *back = attribute(frame, "f_back");
        Py_DecRef(frame);
        frame = back;
    }
    drop(frame);
    return origin == STDLIB ? FOREIGN : origin;
}

/* Whether every frame from the current one to the bottom is the guest's own. */
static int only_guest(void) {
    PyObject *frame = PyEval_GetFrame();
    if (!frame) return 0;
    Py_IncRef(frame);
    int genuine = 1;
    while (genuine && frame && frame != &_Py_NoneStruct) {
        PyObject *code = attribute(frame, "f_code");
        genuine = code && is_guest_code(code);
        drop(code);
        PyObject *back = attribute(frame, "f_back");
        Py_DecRef(frame);
        frame = back;
    }
    drop(frame);
    return genuine;
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

static const char *utf8(PyObject *text) {
    const char *data = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    if (!data) PyErr_Clear();
    return data ? data : "?";
}

/* Rows are (label, mapping, key, value); sizes are (label, mapping, number of entries). */
static void compare_machinery(void) {
    Py_ssize_t count = w.rows ? PyTuple_Size(w.rows) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *row = PyTuple_GetItem(w.rows, i);
        PyObject *key = PyTuple_GetItem(row, 2);
        PyObject *found = PyObject_GetItem(PyTuple_GetItem(row, 1), key);
        if (!found) PyErr_Clear();
        if (found != PyTuple_GetItem(row, 3)) {
            char name[TEXT];
            snprintf(name, sizeof name, "%s.%s", utf8(PyTuple_GetItem(row, 0)), utf8(key));
            note("%s was replaced", name);
        }
        drop(found);
    }
    count = w.sizes ? PyTuple_Size(w.sizes) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *row = PyTuple_GetItem(w.sizes, i);
        char now[32];
        snprintf(now, sizeof now, "%zd", (ssize_t)PyObject_Size(PyTuple_GetItem(row, 1)));
        if (strcmp(now, utf8(PyTuple_GetItem(row, 2)))) note("names were added to %s", utf8(PyTuple_GetItem(row, 0)));
    }
}

static int ends_with(const char *text, const char *end) {
    size_t a = strlen(text), b = strlen(end);
    return a >= b && !strcmp(text + a - b, end);
}

static void look_at_attribute(PyObject *arguments) {
    const char *name = text_argument(arguments, 1);
    if (!name || (strcmp(name, "__code__") && strcmp(name, "__defaults__") && strcmp(name, "__kwdefaults__"))) return;
    if (who_asks() != FOREIGN) return;
    PyObject *code = attribute(PyTuple_GetItem(arguments, 0), "__code__");
    PyObject *file = attribute(code, "co_filename");
    if (code && (!strcmp(utf8(file), "tests.py") || origin_of(code) != FOREIGN)) note("changed %s of a function", name);
    drop(file);
    drop(code);
}

/* The origin of the innermost frame, and whether its file has this name. */
static int direct_caller(const char *file) {
    PyObject *frame = PyEval_GetFrame();
    PyObject *code = attribute(frame, "f_code");
    PyObject *name = attribute(code, "co_filename");
    int origin = code ? origin_of(code) : FOREIGN;
    int same = file && name && ends_with(utf8(name), file) && origin == STDLIB;
    drop(name);
    drop(code);
    return file ? same : origin;
}

/* New code under the name of an environment file would be taken for the environment's. */
static void look_at_new_code(PyObject *arguments) {
    const char *name = text_argument(arguments, 1);
    if (!name || (!is_stdlib(name) && !is_library(name) && strcmp(name, "tests.py"))) return;
    if (direct_caller("<frozen importlib._bootstrap>") || direct_caller("<frozen importlib._bootstrap_external>"))
        return; /* an import */
    if (who_asks() == FOREIGN) note("made code under the name of another file", NULL);
}

static const char *const tripwires[][2] = {
    {"gc.get_objects", "searched the interpreter's objects (gc.get_objects)"},
    {"gc.get_referrers", "searched the interpreter's objects (gc.get_referrers)"},
    {"gc.get_referents", "searched the interpreter's objects (gc.get_referents)"},
    {"sys._current_frames", "looked at the frames of all threads"},
    {"sys._current_exceptions", "looked at the exceptions of all threads"},
    {"sys.settrace", "set a trace function"},
    {"sys.setprofile", "set a profile function"},
    {"sys.addaudithook", "added an audit hook"},
    {"sys.monitoring.register_callback", "set a monitoring function"},
    {"ctypes.string_at", "read raw memory (ctypes.string_at)"},
    {"ctypes.wstring_at", "read raw memory (ctypes.wstring_at)"},
    {"ctypes.memoryview_at", "read raw memory (ctypes.memoryview_at)"},
    {"ctypes.cdata", "mapped raw memory (ctypes from_address)"},
};

/* During loading the driver reports in Python; these kinds of message cannot turn anything into a pass. */
static void deliver(PyObject *arguments) {
    const char *kind = text_argument(arguments, 0);
    const char *fields = text_argument(arguments, 1);
    int harmless = kind && (!strcmp(kind, "setup_failed") || !strcmp(kind, "load_error") || !strcmp(kind, "note"));
    if (w.running || getpid() != w.pid || !pthread_equal(pthread_self(), w.thread) || !harmless || !fields ||
        !only_guest()) {
        note("a report came from outside the driver", NULL);
        return;
    }
    Text t = {0};
    put_plain(&t, "{\"kind\":\"");
    put_plain(&t, kind);
    put_plain(&t, "\",");
    put_plain(&t, fields + 1); /* fields is a JSON object made by a C encoder: drop its brace */
    send_text(&t);
}

/* Uses within the standard library that cannot be bent to another end. */
static int excused(const char *event) {
    if (!strcmp(event, "sys.settrace")) return direct_caller("/doctest.py"); /* puts back what it found */
    if (!strcmp(event, "ctypes.cdata")) return direct_caller("/multiprocessing/sharedctypes.py");
    return 0;
}

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
    case 's':
        if (!strncmp(event, "socket.get", 10)) { /* getaddrinfo, gethostbyname, gethostbyaddr */
            const char *host = text_argument(arguments, 0);
            if (host && *host && strcmp(host, "localhost") && strncmp(host, "127.", 4) && strcmp(host, "::1") &&
                strcmp(host, "0.0.0.0") && w.note_count < MAX_NOTES / 2)
                remark("observation", "asked the network for %s", host);
            break;
        }
        goto wires;
    case 'c':
        if (!strcmp(event, "compile") || !strcmp(event, "code.__new__")) {
            look_at_new_code(arguments);
            break;
        }
        if (!strcmp(event, "ctypes.dlsym")) {
            const char *name = text_argument(arguments, 1);
            if (name && (!strncmp(name, "Py", 2) || !strncmp(name, "_Py", 3) || !strncmp(name, "bw_", 3)) &&
                who_asks() == FOREIGN)
                note("looked up interpreter symbol %s", name);
            break;
        }
        goto wires;
    default:
    wires:
        for (size_t i = 0; i < sizeof tripwires / sizeof *tripwires; i++)
            if (!strcmp(event, tripwires[i][0]) && who_asks() == FOREIGN && !excused(event)) note(tripwires[i][1], NULL);
        if (!strcmp(event, "sys._getframe") && direct_caller(NULL) == FOREIGN)
            note("walked the interpreter's frames (sys._getframe)", NULL);
    }
    return 0;
}

/* ---- calls from the guest ---- */

static PyObject *keep(PyObject *tuple, Py_ssize_t index) {
    PyObject *item = PyTuple_GetItem(tuple, index);
    Py_IncRef(item);
    return item;
}

/* Read the key from the channel and start to watch.  `fixed`: see guard.arm.  Returns 0, or -1 (nothing armed). */
int bw_arm(int channel, PyObject *codes, PyObject *fixed) {
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
    if (count < 0 || count > MAX_CODES || PyTuple_Size(fixed) != 7) return -1;
    for (Py_ssize_t i = 0; i < count; i++) w.codes[i] = PyTuple_GetItem(codes, i);
    w.code_count = (size_t)count;
    Py_IncRef(codes);
    w.stdlib = keep(fixed, 0);
    w.libraries = keep(fixed, 1);
    w.function_type = keep(fixed, 2);
    w.test_case = keep(fixed, 3);
    w.skip_test = keep(fixed, 4);
    w.builtins = keep(fixed, 5);
    w.run_coroutine = keep(fixed, 6);
    w.channel = channel;
    w.pid = getpid();
    w.thread = pthread_self();
    if (PySys_AddAuditHook(hook, NULL) < 0) return -1;
    w.armed = 1;
    return 0;
}

/* Take down the plan before the answer is loaded.
 * plan: ((id, name, code or None, decorated, may_skip), ...); module: the dict both sources run in. */
int bw_plan(PyObject *plan, PyObject *rows, PyObject *sizes, PyObject *module, PyObject *class_name, int plain_bases) {
    Py_ssize_t count = PyTuple_Size(plan);
    if (!w.armed || w.planned || count < 1 || count > MAX_TESTS) return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *row = PyTuple_GetItem(plan, i);
        Test *test = &w.tests[i];
        test->id = keep(row, 0);
        test->name = keep(row, 1);
        test->code = keep(row, 2);
        test->decorated = PyObject_IsTrue(PyTuple_GetItem(row, 3));
        test->may_skip = PyObject_IsTrue(PyTuple_GetItem(row, 4));
    }
    PyObject *kept[] = {rows, sizes, module, class_name};
    for (size_t i = 0; i < 4; i++) Py_IncRef(kept[i]);
    w.test_count = (size_t)count;
    w.rows = rows;
    w.sizes = sizes;
    w.module = module;
    w.class_name = class_name;
    w.plain_bases = plain_bases;
    w.planned = 1;
    static const char started[] = "{\"kind\":\"started\"}"; /* from here on, whatever ends the process is the answer's */
    send_payload(started, sizeof started - 1);
    return 0;
}

static int is_exactly(PyObject *object, PyObject *type) {
    PyObject *own = PyObject_Type(object);
    int same = own == type;
    drop(own);
    return same;
}

/* Whether a function runs the code of the test source: itself, or through decorators the test source names. */
static int runs_planned_code(const Test *test, PyObject *function) {
    if (test->code == &_Py_NoneStruct) return 1;
    if (!is_exactly(function, w.function_type)) return 0;
    Py_IncRef(function);
    int found = 0;
    for (int depth = 0; function && !found && depth < 50; depth++) {
        PyObject *code = is_exactly(function, w.function_type) ? attribute(function, "__code__") : NULL;
        found = code == test->code;
        drop(code);
        if (!test->decorated) break;
        PyObject *inner = attribute(function, "__wrapped__");
        drop(function);
        function = inner;
    }
    drop(function);
    return found;
}

/* Look at the test class after both sources have run; take its tests.  Returns the class (borrowed) or NULL. */
static PyObject *take_tests(void) {
    PyObject *builtins = PyDict_GetItemString(w.module, "__builtins__");
    if (builtins != w.builtins) note("__builtins__ of the module was replaced", NULL);
    PyObject *class = PyDict_GetItem(w.module, w.class_name);
    PyObject *mro = attribute(class, "__mro__");
    Py_ssize_t depth = mro ? PyTuple_Size(mro) : 0, base = 0;
    while (base < depth && PyTuple_GetItem(mro, base) != w.test_case) base++;
    if (base == depth || base == 0 || (w.plain_bases && (base != 1 || depth != 3))) {
        PyErr_Clear();
        note("the test class is not the one its source describes", NULL);
        drop(mro);
        return NULL;
    }
    drop(mro);
    PyObject *members = attribute(class, "__dict__");
    for (size_t i = 0; i < w.test_count; i++) {
        Test *test = &w.tests[i];
        test->function = members ? PyObject_GetItem(members, test->name) : NULL;
        if (!test->function) {
            PyErr_Clear();
            test->function = attribute(class, utf8(test->name)); /* inherited from a class of the test source */
        }
        if (!test->function || !runs_planned_code(test, test->function)) {
            note("test %s was removed or replaced", utf8(test->name));
            drop(test->function);
            test->function = NULL;
        }
    }
    drop(members);
    return class;
}

/* After this no attribute of the class can be set or deleted (Py_TPFLAGS_IMMUTABLETYPE, Python 3.10 and later). */
static void freeze(PyObject *class) {
    uint64_t *flags = (uint64_t *)((char *)class + TP_FLAGS_OFFSET);
    if (*flags == PyType_GetFlags(class)) *flags |= 1UL << 8;
}

typedef struct {
    const char *outcome;
    PyObject *error;
} Ending;

static Ending passed(void) { return (Ending){"passed", NULL}; }

/* What a call came to; takes over the result or the exception that is set. */
static Ending ending_of(PyObject *result) {
    if (result) {
        PyObject *type = PyObject_Type(result);
        PyObject *name = attribute(type, "__name__");
        int coroutine = !strcmp(utf8(name), "coroutine");
        drop(name);
        drop(type);
        if (!coroutine) {
            Py_DecRef(result);
            return passed();
        }
        PyObject *value = PyObject_CallFunctionObjArgs(w.run_coroutine, result, NULL);
        Py_DecRef(result);
        if (value) {
            Py_DecRef(value);
            return passed();
        }
    }
    const char *outcome = PyErr_ExceptionMatches(w.skip_test)                ? "skipped"
                          : PyErr_ExceptionMatches(PyExc_AssertionError) ? "failed"
                                                                             : "error";
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (value && trace && PyException_SetTraceback(value, trace) < 0) PyErr_Clear();
    drop(type);
    drop(trace);
    return (Ending){outcome, value};
}

static Ending call(PyObject *function, PyObject *argument) {
    if (!function) return ending_of(NULL);
    return ending_of(PyObject_CallFunctionObjArgs(function, argument, NULL));
}

static Ending call_attribute(PyObject *object, const char *name) {
    PyObject *method = PyObject_GetAttrString(object, name);
    Ending ending = call(method, NULL);
    drop(method);
    return ending;
}

static void keep_worse(Ending *so_far, Ending next) {
    if (!strcmp(so_far->outcome, "passed")) {
        *so_far = next;
    } else {
        drop(next.error);
    }
}

/* Run what addCleanup has collected, last first. */
static Ending run_cleanups(PyObject *owner, const char *name) {
    Ending ending = passed();
    PyObject *list = attribute(owner, name);
    for (int i = 0; list && i < MAX_CLEANUPS; i++) {
        Py_ssize_t size = PyList_Size(list);
        if (size <= 0) break;
        PyObject *item = PyList_GetItem(list, size - 1);
        Py_IncRef(item);
        if (PyList_SetSlice(list, size - 1, size, NULL) < 0) PyErr_Clear();
        PyObject *function = PyTuple_GetItem(item, 0);
        PyObject *positional = function ? PyTuple_GetItem(item, 1) : NULL;
        PyObject *named = positional ? PyTuple_GetItem(item, 2) : NULL;
        keep_worse(&ending, ending_of(named ? PyObject_Call(function, positional, named) : NULL));
        Py_DecRef(item);
    }
    PyErr_Clear();
    drop(list);
    return ending;
}

static int flag_of(PyObject *object, const char *name) {
    PyObject *value = attribute(object, name);
    int result = value ? PyObject_IsTrue(value) > 0 : 0;
    PyErr_Clear();
    drop(value);
    return result;
}

static Ending run_test(const Test *test, PyObject *pinned, PyObject *original, PyObject *after) {
    if (!test->function) return (Ending){"error", NULL};
    if (test->may_skip && (flag_of(test->function, "__unittest_skip__") || flag_of(original, "__unittest_skip__")))
        return (Ending){"skipped", NULL};
    PyObject *instance = PyObject_CallFunctionObjArgs(pinned, test->name, NULL);
    if (!instance) return ending_of(NULL);
    Ending ending = call_attribute(instance, "setUp");
    if (!strcmp(ending.outcome, "passed")) {
        ending = call(test->function, instance);
        if (test->may_skip && flag_of(test->function, "__unittest_expecting_failure__") &&
            strcmp(ending.outcome, "skipped"))
            ending.outcome = strcmp(ending.outcome, "passed") ? "expected_failure" : "unexpected_success";
        keep_worse(&ending, call_attribute(instance, "tearDown"));
    }
    keep_worse(&ending, run_cleanups(instance, "_cleanups"));
    if (!is_exactly(instance, pinned)) note("the running test was given another class", NULL);
    Ending looked = call(after, instance);
    if (strcmp(looked.outcome, "passed")) note("the running test could not be looked at afterwards", NULL);
    drop(looked.error);
    Py_DecRef(instance);
    return ending;
}

/* Message, exception name and missing module of an error, as the Python helper describes it; information only. */
static void put_description(Text *t, PyObject *describe, PyObject *error) {
    PyObject *parts = error ? PyObject_CallFunctionObjArgs(describe, error, NULL) : NULL;
    static const char *const names[] = {"message", "exception", "missing_module"};
    int usable = parts && PyTuple_Size(parts) == 3;
    PyErr_Clear();
    for (Py_ssize_t i = 0; i < 3; i++) {
        put_plain(t, ",\"");
        put_plain(t, names[i]);
        put_plain(t, "\":");
        put_unicode(t, usable ? PyTuple_GetItem(parts, i) : NULL);
    }
    drop(parts);
}

static double seconds_since(const struct timespec *start) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

static void send_test(const Test *test, Ending ending, double seconds, PyObject *describe) {
    char number[48];
    snprintf(number, sizeof number, ",\"seconds\":%.6f", seconds);
    Text t = {0};
    put_plain(&t, "{\"kind\":\"test\",\"id\":");
    put_unicode(&t, test->id);
    put_plain(&t, ",\"outcome\":\"");
    put_plain(&t, ending.outcome);
    put_plain(&t, "\"");
    put_plain(&t, number);
    put_description(&t, describe, ending.error);
    put_plain(&t, "}");
    send_text(&t);
}

/* Returns 1 when the fixture went well or is not there, 0 when it failed, -1 when it asked to skip. */
static int run_fixture(const char *name, Ending ending, PyObject *describe) {
    int result = !strcmp(ending.outcome, "passed") ? 1 : !strcmp(ending.outcome, "skipped") ? -1 : 0;
    if (result == 0) {
        Text t = {0};
        put_plain(&t, "{\"kind\":\"fixture\",\"name\":");
        put_string(&t, name, strlen(name));
        put_description(&t, describe, ending.error);
        put_plain(&t, "}");
        send_text(&t);
    }
    drop(ending.error);
    return result;
}

static int run_module_fixture(const char *name, PyObject *describe) {
    PyObject *function = PyDict_GetItemString(w.module, name);
    if (!function) return 1;
    Py_IncRef(function);
    int result = run_fixture(name, call(function, NULL), describe);
    Py_DecRef(function);
    return result;
}

static void send_closing(PyObject *missing) {
    Text t = {0};
    put_plain(&t, "{\"kind\":\"closing\",\"missing\":[");
    Py_ssize_t count = PyList_Size(missing);
    for (Py_ssize_t i = 0; i < count && i < 200; i++) {
        if (i) put_plain(&t, ",");
        put_unicode(&t, PyList_GetItem(missing, i));
    }
    PyErr_Clear();
    put_plain(&t, "]}");
    send_text(&t);
}

/* A complaint of the pinned assertions or the driver; an answer that finds this can only harm itself with it. */
int bw_note(PyObject *text) {
    note("%s", utf8(text));
    return 0;
}

/* First half, directly after the sources have run: take the tests.  Returns the class (borrowed), or None. */
PyObject *bw_take(void) {
    PyObject *class = NULL;
    if (w.planned && !w.running && only_guest()) {
        compare_machinery();
        class = take_tests();
    } else {
        note("the witness was called out of turn", NULL);
    }
    class = class ? class : &_Py_NoneStruct;
    Py_IncRef(class);
    return class;
}

/* Second half: run all tests on the pinned class and report each; then the closing frame.
 * helpers: (after(instance), describe(error), at_end(), missing modules). */
int bw_run(PyObject *pinned, PyObject *original, PyObject *helpers) {
    if (!w.planned || w.running || !only_guest()) {
        note("the witness was called out of turn", NULL);
        return -1;
    }
    w.running = 1;
    compare_machinery();
    PyObject *after = PyTuple_GetItem(helpers, 0), *describe = PyTuple_GetItem(helpers, 1);
    PyObject *at_end = PyTuple_GetItem(helpers, 2);
    freeze(pinned);
    freeze(w.test_case);
    int all_passed = 1;
    int ready = run_module_fixture("setUpModule", describe);
    if (ready == 1) ready = run_fixture("setUpClass", call_attribute(original, "setUpClass"), describe);
    for (size_t i = 0; i < w.test_count; i++) {
        struct timespec start;
        clock_gettime(CLOCK_MONOTONIC, &start);
        Ending ending = ready == 1 ? run_test(&w.tests[i], pinned, original, after)
                                   : (Ending){ready ? "skipped" : "error", NULL};
        double seconds = seconds_since(&start);
        all_passed &= !strcmp(ending.outcome, "passed");
        compare_machinery();
        send_test(&w.tests[i], ending, seconds, describe);
        drop(ending.error);
    }
    if (ready == 1) {
        run_fixture("tearDownClass", call_attribute(original, "tearDownClass"), describe);
        run_fixture("class cleanup", run_cleanups(original, "_class_cleanups"), describe);
    }
    run_module_fixture("tearDownModule", describe);
    if (all_passed) {
        Ending looked = call(at_end, NULL);
        if (strcmp(looked.outcome, "passed")) note("the classes of the answer could not be looked at", NULL);
        drop(looked.error);
    }
    compare_machinery();
    send_closing(PyTuple_GetItem(helpers, 3));
    return 0;
}

/* End a run whose sources could not be loaded. */
int bw_close(PyObject *missing) {
    if (w.running || !only_guest()) return -1;
    w.running = 1;
    compare_machinery();
    send_closing(missing);
    return 0;
}
