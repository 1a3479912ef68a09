/* Loops on the threads of the OpenMP runtime that another library uses. A runtime's threads wait for work without sleeping for some
 * milliseconds after each loop of that library (libgomp: 6 ms), so that threads of our own would share their processors meanwhile. */
#include "layer.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* The functions that GCC's code calls. LLVM's and Intel's runtimes have them too. */
static struct {
    void (*parallel)(void (*body)(void *), void *arg, unsigned threads, unsigned flags);
    int (*thread)(void), (*threads)(void);
} openmp;
static atomic_bool busy;
static bool forked;
static size_t most; /* threads */

typedef struct loop {
    size_t parts;
    void (*part)(size_t index, void *arg);
    void *arg;
} loop;

/* The runtime may give fewer threads than it was asked for. */
static void run_share(void *arg)
{
    const loop *l = arg;
    const size_t step = (size_t)openmp.threads();
    for (size_t i = (size_t)openmp.thread(); i < l->parts; i += step) l->part(i, l->arg);
}

/* Always asks for `most` threads, since the runtime ends or starts threads when the number changes. A nested loop, and a loop that begins
 * while another thread runs one, run on the calling thread alone. */
static void run_parallel(size_t parts, void (*part)(size_t index, void *arg), void *arg, void *user)
{
    loop l = {parts, part, arg};
    (void)user;
    if (atomic_exchange_explicit(&busy, true, memory_order_acquire)) {
        for (size_t i = 0; i < parts; i++) part(i, arg);
        return;
    }
    openmp.parallel(run_share, &l, (unsigned)most, 0);
    atomic_store_explicit(&busy, false, memory_order_release);
}

/* The runtime would wait for threads that a forked child does not have; the library starts its own there. */
static void use_own_threads_in_child(void)
{
    forked = true;
    thunder_status_release(thunder_context_set_num_threads(context, most));
}

static int load_symbol(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static bool find_openmp(const char *path)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    return library && load_symbol(library, "GOMP_parallel", &openmp.parallel) && load_symbol(library, "omp_get_num_threads", &openmp.threads) &&
           load_symbol(library, "omp_get_thread_num", &openmp.thread) && pthread_atfork(NULL, NULL, use_own_threads_in_child) == 0;
}

/* use_openmp(path, count): runs loops on `count` threads of the OpenMP runtime of the library `path`; False if it has none. */
static PyObject *use_openmp(PyObject *module, PyObject *args)
{
    static bool found;
    const char *path;
    Py_ssize_t count;
    if (!PyArg_ParseTuple(args, "sn:use_openmp", &path, &count)) return NULL;
    if (forked || !(found = found || find_openmp(path))) Py_RETURN_FALSE;
    const thunder_thread_pool pool = {sizeof pool, (size_t)count, run_parallel, NULL, NULL};
    if (check_status(thunder_context_set_thread_pool(context, &pool))) return NULL;
    most = (size_t)count;
    Py_RETURN_TRUE;
}

int open_openmp(PyObject *module)
{
    static PyMethodDef functions[] = {{"use_openmp", use_openmp, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
    return PyModule_AddFunctions(module, functions);
}
