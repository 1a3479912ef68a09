/* The streams on which other libraries are currently working, by device. */
#include "streams.h"

#include <string.h>

/* Libraries that can name their current stream. A stream ends with its object, unless it is one that is never destroyed. */
typedef struct library {
    const char *package, *module, *current, *number;
    bool ends;
} library;
static const library libraries[] = {{"torch", "torch.cuda", "current_stream", "cuda_stream", false},
                                    {"cupy", "cupy.cuda", "get_current_stream", "ptr", true}};
enum { LIBRARIES = sizeof libraries / sizeof libraries[0] };

static const library *library_of(PyObject *object)
{
    PyObject *module = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__module__");
    const char *name = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
    const library *found = NULL;
    PyErr_Clear();
    for (int i = 0; name && i < LIBRARIES && !found; i++) {
        const size_t length = strlen(libraries[i].package);
        if (strncmp(name, libraries[i].package, length) == 0 && (!name[length] || name[length] == '.')) found = &libraries[i];
    }
    Py_XDECREF(module);
    return found;
}

/* Memory that is freed later still uses the stream at that time, so the stream must not have ended. */
static int keep_stream(PyObject *stream)
{
    static PyObject *kept;
    if (!kept && !(kept = PySet_New(NULL))) return -1;
    return PySet_Add(kept, stream);
}

/* The number of the CUstream on which a library now works on the device, 0 for the legacy default one. wanted: the stream is only
 * kept if it is this one. -1 and an exception. */
static int current_stream(const library *of, int index, const void *wanted, void **out)
{
    PyObject *module = PyImport_ImportModule(of->module);
    PyObject *stream = module ? PyObject_CallMethod(module, of->current, "i", index) : NULL;
    PyObject *number = stream ? PyObject_GetAttrString(stream, of->number) : NULL;
    *out = number ? PyLong_AsVoidPtr(number) : NULL;
    if (*out && of->ends && (!wanted || wanted == *out) && !PyErr_Occurred()) keep_stream(stream);
    Py_XDECREF(number);
    Py_XDECREF(stream);
    Py_XDECREF(module);
    return PyErr_Occurred() ? -1 : 0;
}

void keep_consumer(const void *native, int index)
{
    for (int i = 0; i < LIBRARIES; i++) {
        PyObject *name = libraries[i].ends ? PyUnicode_FromString(libraries[i].module) : NULL;
        PyObject *module = name ? PyImport_GetModule(name) : NULL;
        void *now;
        if (module) current_stream(&libraries[i], index, native, &now);
        Py_XDECREF(module);
        Py_XDECREF(name);
        PyErr_Clear(); /* a library that cannot name its stream is not the consumer */
    }
}

/* The legacy default stream synchronizes implicitly. */
int follow_stream(PyObject *object, thunder_tensor *tensor)
{
    const thunder_device device = thunder_tensor_device(tensor);
    const library *of = device == THUNDER_CPU ? NULL : library_of(object);
    void *native;
    if (!of) return 0;
    if (current_stream(of, device & 0xffff, NULL, &native)) return -1;
    if (!native || native == LEGACY_STREAM) return 0;
    thunder_stream *stream = stream_on(device, native);
    const int failed = !stream || check_status(thunder_tensor_lent_on(tensor, stream));
    thunder_stream_release(stream);
    return failed ? -1 : 0;
}
