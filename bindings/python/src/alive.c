/* Python's end. A thread that waits for the interpreter's lock while it ends is ended by Python through all C++ frames below it,
 * which ends the process. So threads that the library calls back on are counted, and the end waits for them. */
#include "layer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static const int kLongest = 1000; /* milliseconds; a callback that takes longer may still be hit */

static atomic_int inside;     /* threads in callbacks, or about to be */
static atomic_bool ending;    /* only `last` enters from now on, and who is inside */
static pthread_t last;        /* set before `ending` is */
static _Thread_local int depth;

static bool python_is_alive(void)
{
#if PY_VERSION_HEX >= 0x030d0000
    return Py_IsInitialized() && !Py_IsFinalizing();
#else
    return Py_IsInitialized() && !_Py_IsFinalizing();
#endif
}

static bool ends_under_this_thread(void) { return atomic_load(&ending) && depth == 0 && !pthread_equal(pthread_self(), last); }

bool python_enter(PyGILState_STATE *state)
{
    atomic_fetch_add(&inside, 1);
    if (ends_under_this_thread() || !python_is_alive()) {
        atomic_fetch_sub(&inside, 1);
        return false;
    }
    depth++;
    *state = PyGILState_Ensure();
    return true;
}

void python_leave(PyGILState_STATE state)
{
    PyGILState_Release(state);
    depth--;
    atomic_fetch_sub(&inside, 1);
}

void block_if_python_ends(void)
{
    if (!ends_under_this_thread()) return;
    Py_BEGIN_ALLOW_THREADS
    for (;;) pause();
    Py_END_ALLOW_THREADS
}

/* Other threads do not live on in a child. */
static void reset_after_fork(void) { atomic_store(&inside, depth ? 1 : 0); }

/* By `atexit`, on the thread that ends Python, when only daemon threads are left. */
static PyObject *wait_for_callbacks(PyObject *module, PyObject *unused)
{
    last = pthread_self();
    atomic_store(&ending, true);
    const int own = depth ? 1 : 0;
    Py_BEGIN_ALLOW_THREADS
    for (int waited = 0; waited < kLongest && atomic_load(&inside) > own; waited++) usleep(1000);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

int open_alive(PyObject *module)
{
    static PyMethodDef definition = {"end", wait_for_callbacks, METH_NOARGS, NULL};
    PyObject *atexit = PyImport_ImportModule("atexit"), *function = PyCFunction_New(&definition, NULL), *done = NULL;
    if (atexit && function) done = PyObject_CallMethod(atexit, "register", "O", function);
    Py_XDECREF(function);
    Py_XDECREF(atexit);
    if (!done) return -1;
    Py_DECREF(done);
    if (pthread_atfork(NULL, NULL, reset_after_fork)) return PyErr_NoMemory(), -1;
    return 0;
}
