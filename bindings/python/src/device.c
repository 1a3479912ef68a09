/* Devices as a whole: whether one is there, waiting for it, statistics of its memory. */
#include "layer.h"

/* A tensor is made there by the context, not by the scope: a function that asks while it is traced records nothing. */
static PyObject *has_device(PyObject *module, PyObject *object)
{
    thunder_device device;
    if (!device_from(object, &device)) return NULL;
    const int64_t one = 1;
    const float element = 0;
    thunder_tensor *made = NULL;
    thunder_status *status = thunder_tensor_create(context, THUNDER_F32, 1, &one, device, &element, sizeof element, &made);
    thunder_tensor_release(made);
    const bool is_there = !status;
    thunder_status_release(status);
    return PyBool_FromLong(is_there);
}

static PyObject *memory_stats(PyObject *module, PyObject *object)
{
    thunder_device device;
    thunder_memory_stats s = {.size = sizeof s};
    if (!device_from(object, &device) || check_status(thunder_context_memory_stats(context, device, &s))) return NULL;
    typedef unsigned long long count;
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:K,s:K}", "allocated_bytes", (count)s.allocated_bytes, "max_allocated_bytes",
                         (count)s.max_allocated_bytes, "reserved_bytes", (count)s.reserved_bytes, "max_reserved_bytes",
                         (count)s.max_reserved_bytes, "hits", (count)s.hits, "misses", (count)s.misses, "retries", (count)s.retries);
}

/* (name, major, minor, multiprocessors, total, l2, shared, free) */
static PyObject *device_info(PyObject *module, PyObject *object)
{
    thunder_device device;
    thunder_device_info i = {.size = sizeof i};
    if (!device_from(object, &device) || check_status(thunder_context_device_info(context, device, &i))) return NULL;
    typedef unsigned long long count;
    return Py_BuildValue("siiiKKKK", i.name, (int)i.major, (int)i.minor, (int)i.multiprocessors, (count)i.total_bytes, (count)i.l2_bytes,
                         (count)i.shared_bytes_per_block, (count)i.free_bytes);
}

/* Calls that only a device says something to, which may wait for it. */
static PyObject *call_on_device(PyObject *object, thunder_status *(*ask)(thunder_context *, thunder_device))
{
    thunder_device device;
    if (!device_from(object, &device)) return NULL;
    thunder_status *status;
    Py_BEGIN_ALLOW_THREADS
    status = ask(context, device);
    Py_END_ALLOW_THREADS
    return none_of(status);
}
static PyObject *reset_peak_memory_stats(PyObject *module, PyObject *device)
{
    return call_on_device(device, thunder_context_reset_peak_memory_stats);
}
static PyObject *empty_cache(PyObject *module, PyObject *device)
{
    return call_on_device(device, thunder_context_empty_cache);
}
static PyObject *synchronize(PyObject *module, PyObject *device)
{
    return call_on_device(device, thunder_context_synchronize);
}

int open_device(PyObject *module)
{
    static PyMethodDef functions[] = {
        {"has_device", has_device, METH_O, "Whether a tensor can be made on the device."},
        {"memory_stats", memory_stats, METH_O, "Bytes of the device's memory, and how often blocks were reused, as a dict."},
        {"device_info", device_info, METH_O, "What the device's hardware is like, and its free memory, as a tuple."},
        {"reset_peak_memory_stats", reset_peak_memory_stats, METH_O, "The peaks begin again at what is in use now."},
        {"empty_cache", empty_cache, METH_O, "Blocks that are kept for reuse go back."},
        {"synchronize", synchronize, METH_O, "Waits for all work on the device."},
        {NULL, NULL, 0, NULL}};
    return PyModule_AddFunctions(module, functions);
}
