/* The state of the process and of each of its threads. */
#include "described.h"
#include "host.h"

thunder_context *context;
_Thread_local thunder_scope *here;
_Thread_local thunder_scope *eager;
_Thread_local bool live_numbers;
_Thread_local bool sizes_given;
_Thread_local bool plain_sizes;
uint64_t host_changes;
_Thread_local host *host_root;

PyTypeObject *add_type(PyObject *module, PyType_Spec *spec, PyTypeObject *base)
{
    PyObject *type = PyType_FromSpecWithBases(spec, (PyObject *)base);
    if (!type) return NULL;
    if (PyModule_AddType(module, (PyTypeObject *)type)) Py_CLEAR(type);
    return (PyTypeObject *)type;
}

void free_object(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    type->tp_free(object);
    Py_DECREF(type);
}

PyObject *bind_method(PyObject *object, PyObject *instance, PyObject *type)
{
    return instance && instance != Py_None ? PyMethod_New(object, instance) : Py_NewRef(object);
}

void put_item(PyObject **list, size_t at, PyObject *one)
{
    if (!one)
        Py_CLEAR(*list);
    else if (PyList_Check(*list))
        PyList_SET_ITEM(*list, (Py_ssize_t)at, one);
    else
        PyTuple_SET_ITEM(*list, (Py_ssize_t)at, one);
}

int add_methods(PyTypeObject *type, PyMethodDef *methods)
{
    for (PyMethodDef *each = methods; each->ml_name; each++) {
        PyObject *made = PyDescr_NewMethod(type, each);
        const int failed = !made || PyObject_SetAttrString((PyObject *)type, each->ml_name, made);
        Py_XDECREF(made);
        if (failed) return -1;
    }
    return 0;
}
