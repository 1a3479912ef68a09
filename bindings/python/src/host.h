/* host.h: what traces depend on of the host; see _host.py. */
#ifndef THUNDER_PYTHON_HOST_H
#define THUNDER_PYTHON_HOST_H
#include "layer.h"

/* Of one compiled function. Its owner visits and clears it for the collector. */
typedef struct host host;
extern uint64_t host_changes;      /* how often something of a module changed */
extern _Thread_local host *host_root; /* of the compiled function whose call is at work, or NULL */
host *host_new(callback *owner, thunder_function *function);
int host_traverse(host *h, visitproc visit, void *arg);
void host_clear(host *h);
void host_free(host *h);
host *compiled_host(PyObject *compiled);

/* Before a call: whether something is another than at the last look, so that programs are to ask their facts. */
bool host_moved(host *h);
/* Calls the function; where it is traced its places are found first, and what it wrote into things of the host afterwards. */
PyObject *host_run(PyObject *function, const thunder_values *in, PyObject *args, PyObject *named);
/* Adds what the function that host_run() called wrote, as one group of results; -1 and an exception. */
int host_add_writes(thunder_values *out);
/* Whether its calls write something: a file with its programs would not. */
bool host_writes(const host *h);
/* The result of a call, which this takes over, without that group: what is written is written now. */
PyObject *host_write(host *h, PyObject *result, PyObject *const *args, Py_ssize_t count, PyObject *names);
#endif
