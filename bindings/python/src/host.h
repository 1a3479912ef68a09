/* host.h: what traces depend on of the host; see _host.py. */
#pragma once
#include "places.h"

/* Of one program: the places and what was there when it was traced. */
typedef struct facts {
    size_t count;
    size_t *at;
    PyObject **was;
} facts;

typedef struct writes {
    PyObject *kinds;         /* by number of a kind of call, what it writes: lists of _writes.Write */
    PyObject *made, *values; /* of the trace that ends now */
} writes;

/* Of one compiled function. Its owner visits and clears it for the collector. */
typedef struct host {
    place *places;
    facts *sets;
    size_t *loud; /* the places that a call compares, among room for all */
    size_t n_places, n_loud, room, n_sets;
    size_t *slots, n_slots; /* a hash table of the places: 1 and the index, with linear probing; a power of two */
    uint64_t changes;
    bool quiet, warned; /* of what a trace keeps that no call checks: the option sharp_edges was given; it was told once */
    callback *owner;
    thunder_function *function;
    writes writes;
} host;
extern uint64_t host_changes;      /* how often something of a module changed */
extern _Thread_local host *host_root; /* of the compiled function whose call is at work, or NULL */
host *host_new(callback *owner, thunder_function *function);
int host_traverse(host *h, visitproc visit, void *arg);
void host_clear(host *h);
void host_free(host *h);
host *compiled_host(PyObject *compiled);

/* Before a call: whether something is another than at the last look, so that programs are to ask their facts. */
bool host_has_changed(host *h);
/* Calls the function that is traced now: its places are found first, and what it wrote into things of the host afterwards. */
PyObject *host_run(PyObject *function, const thunder_values *in, PyObject *args, PyObject *named);

/* ---- host_writes.c ---- */
/* Adds what the function that host_run() called wrote, as one group of results; -1 and an exception. */
int writes_add(thunder_values *out);
/* Whether its calls write something: a file with its programs would not. */
bool writes_any(const host *h);
/* The result of a call, which this takes over, without that group: what is written is written now. */
PyObject *writes_perform(host *h, PyObject *result, PyObject *const *args, Py_ssize_t count, PyObject *names);
