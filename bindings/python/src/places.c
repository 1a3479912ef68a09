/* Places of the host, and whether what is there is what was there. */
#include "places.h"

#include <string.h>

#include "module.h"

/* Counts the changes of a dict, where the language does; 0: it does not, and the pairs are compared. */
static uint64_t version_of(PyObject *dict)
{
#if PY_VERSION_HEX < 0x030c0000
    return ((PyDictObject *)dict)->ma_version_tag;
#else
    return 0;
#endif
}

static PyObject *dict_pairs(PyObject *dict, bool children)
{
    PyObject *list = PyList_New(0), *key, *value;
    Py_ssize_t at = 0;
    while (list && PyDict_Next(dict, &at, &key, &value))
        if ((!children || PyObject_TypeCheck(value, module_type)) && (PyList_Append(list, key) || PyList_Append(list, value))) Py_CLEAR(list);
    PyObject *tuple = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return tuple;
}

/* Also of dtypes that buffers have no format for, and of devices. */
static PyObject *elements_of_tensor(thunder_tensor *tensor)
{
    const size_t count = thunder_tensor_nbytes(tensor);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)count);
    if (bytes && check_status(thunder_tensor_read(tensor, PyBytes_AS_STRING(bytes), count))) Py_CLEAR(bytes);
    PyErr_Clear();
    return bytes;
}

/* The elements of an array or a tensor, row by row; NULL without an exception where it shows none. */
static PyObject *elements_of(PyObject *array)
{
    if (tensor_test(array)) return elements_of_tensor(tensor_handle(array));
    Py_buffer view;
    if (PyObject_GetBuffer(array, &view, PyBUF_FULL_RO)) return PyErr_Clear(), NULL;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, view.len);
    if (bytes && PyBuffer_ToContiguous(PyBytes_AS_STRING(bytes), &view, view.len, 'C')) Py_CLEAR(bytes);
    PyErr_Clear();
    PyBuffer_Release(&view);
    return bytes;
}

static bool same_bytes(PyObject *now, PyObject *seen)
{
    const bool same = now && PyBytes_GET_SIZE(now) == PyBytes_GET_SIZE(seen) && !memcmp(PyBytes_AS_STRING(now), PyBytes_AS_STRING(seen), (size_t)PyBytes_GET_SIZE(seen));
    Py_XDECREF(now);
    return same;
}

static bool same_elements(PyObject *array, PyObject *seen)
{
    Py_buffer view;
    if (seen && tensor_test(array)) return same_bytes(elements_of_tensor(tensor_handle(array)), seen);
    if (!seen || PyObject_GetBuffer(array, &view, PyBUF_FULL_RO)) return PyErr_Clear(), false;
    const bool dense = PyBuffer_IsContiguous(&view, 'C');
    const bool same = view.len == PyBytes_GET_SIZE(seen) && (!dense || !memcmp(view.buf, PyBytes_AS_STRING(seen), (size_t)view.len));
    PyBuffer_Release(&view);
    return same && (dense || same_bytes(elements_of(array), seen));
}

/* What a function of Python runs, and the values of its arguments that are not given. */
static PyObject *parts_of(PyObject *object)
{
    const PyFunctionObject *f = (const PyFunctionObject *)object;
    return PyTuple_Pack(3, f->func_code, f->func_defaults ? f->func_defaults : Py_None, f->func_kwdefaults ? f->func_kwdefaults : Py_None);
}

static bool same_parts(PyObject *object, PyObject *seen)
{
    const PyFunctionObject *f = (const PyFunctionObject *)object;
    return seen && PyTuple_GET_ITEM(seen, 0) == f->func_code && PyTuple_GET_ITEM(seen, 1) == (f->func_defaults ? f->func_defaults : Py_None) &&
           PyTuple_GET_ITEM(seen, 2) == (f->func_kwdefaults ? f->func_kwdefaults : Py_None);
}

PyObject *place_content(const place *p)
{
    PyObject *found = NULL;
    switch (p->kind) {
        case PLACE_CELL: found = PyCell_Get(p->holder); break;
        case PLACE_ITEM: found = Py_XNewRef(PyDict_GetItemWithError(p->holder, p->key)); break;
        case PLACE_LIST: found = PyList_AsTuple(p->holder); break;
        case PLACE_DICT: found = dict_pairs(p->holder, false); break;
        case PLACE_SET: found = PyFrozenSet_New(p->holder); break;
        case PLACE_SEQUENCE: found = PySequence_Tuple(p->holder); break;
        case PLACE_ARRAY: found = elements_of(p->holder); break;
        case PLACE_SLOT: found = PyObject_GetAttr(p->holder, p->key); break;
        case PLACE_FUNCTION: found = parts_of(p->holder); break;
        default: found = ((Module *)p->holder)->dict ? dict_pairs(((Module *)p->holder)->dict, true) : PyTuple_New(0);
    }
    PyErr_Clear();
    return found;
}

static bool same_items(PyObject *holder, PyObject *seen)
{
    const Py_ssize_t n = PyList_GET_SIZE(holder);
    if (PyTuple_GET_SIZE(seen) != n) return false;
    return !n || !memcmp(((PyListObject *)holder)->ob_item, ((PyTupleObject *)seen)->ob_item, (size_t)n * sizeof(PyObject *));
}

static bool same_pairs(PyObject *dict, PyObject *seen)
{
    PyObject *key, *value;
    Py_ssize_t at = 0, i = 0;
    if (2 * PyDict_Size(dict) != PyTuple_GET_SIZE(seen)) return false;
    for (; PyDict_Next(dict, &at, &key, &value); i += 2)
        if (PyTuple_GET_ITEM(seen, i) != key || PyTuple_GET_ITEM(seen, i + 1) != value) return false;
    return true;
}

/* The pairs are compared after a change alone. */
static bool same_dict(place *p)
{
    const uint64_t version = version_of(p->holder);
    if (version && version == p->version) return true;
    if (!p->seen || !same_pairs(p->holder, p->seen)) return false;
    p->version = version;
    return true;
}

/* Of a sequence that is no list, which shows its items one by one. */
static bool same_sequence(PyObject *holder, PyObject *seen)
{
    PyObject *now = PySequence_Tuple(holder);
    if (!now) return PyErr_Clear(), false;
    const Py_ssize_t n = PyTuple_GET_SIZE(now);
    const bool same = n == PyTuple_GET_SIZE(seen) && (!n || !memcmp(((PyTupleObject *)now)->ob_item, ((PyTupleObject *)seen)->ob_item, (size_t)n * sizeof(PyObject *)));
    Py_DECREF(now);
    return same;
}

bool place_is_unchanged(place *p)
{
    switch (p->kind) {
        case PLACE_CELL: return PyCell_GET(p->holder) == p->seen;
        case PLACE_ITEM: {
            PyObject *now = PyDict_GetItemWithError(p->holder, p->key);
            if (!now) PyErr_Clear();
            return now == p->seen;
        }
        case PLACE_LIST: return p->seen && same_items(p->holder, p->seen);
        case PLACE_DICT: return same_dict(p);
        case PLACE_SET: return p->seen && PySet_GET_SIZE(p->holder) == PySet_GET_SIZE(p->seen) && PyObject_RichCompareBool(p->holder, p->seen, Py_EQ) == 1;
        case PLACE_SEQUENCE: return p->seen && same_sequence(p->holder, p->seen);
        case PLACE_ARRAY: return same_elements(p->holder, p->seen);
        case PLACE_FUNCTION: return same_parts(p->holder, p->seen);
        case PLACE_SLOT: {
            PyObject *now = PyObject_GetAttr(p->holder, p->key);
            Py_XDECREF(now); /* the object has it still */
            return now == p->seen;
        }
        default: return true;
    }
}

static bool is_plain(PyObject *o)
{
    return PyLong_CheckExact(o) || PyFloat_CheckExact(o) || PyUnicode_CheckExact(o) || PyBytes_CheckExact(o) || PyComplex_CheckExact(o) ||
           PyFrozenSet_CheckExact(o);
}

bool place_contents_equal(PyObject *a, PyObject *b)
{
    if (a == b) return true;
    if (!a || !b || Py_TYPE(a) != Py_TYPE(b)) return false;
    if (PyMethod_Check(a)) return PyMethod_GET_FUNCTION(a) == PyMethod_GET_FUNCTION(b) && PyMethod_GET_SELF(a) == PyMethod_GET_SELF(b);
    if (PyFloat_CheckExact(a)) {
        const double x = PyFloat_AS_DOUBLE(a), y = PyFloat_AS_DOUBLE(b);
        return !memcmp(&x, &y, sizeof x);
    }
    if (PyTuple_CheckExact(a)) {
        if (PyTuple_GET_SIZE(a) != PyTuple_GET_SIZE(b)) return false;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a); i++)
            if (!place_contents_equal(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i))) return false;
        return true;
    }
    const int equal = is_plain(a) ? PyObject_RichCompareBool(a, b, Py_EQ) : 0;
    if (equal < 0) PyErr_Clear();
    return equal == 1;
}
