/* compiled.h: the object that a compiled function is. */
#pragma once
#include "host.h"

typedef struct Compiled {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *function, *options, *dict, *weak; /* executors and passes among the options live as long as it */
    callback *callback;
    thunder_function *handle;
    thunder_compiled *compiled;
    thunder_values *in, *out;
    host *host; /* NULL: what it runs is no Python */
    PyObject *host_of; /* NULL: its own; else the compiled function whose it is */
    bool any_names; /* the function takes **names, whose order it sees */
    bool busy; /* a call is using them; another one meanwhile makes its own */
} Compiled;
extern PyTypeObject *compiled_type;
