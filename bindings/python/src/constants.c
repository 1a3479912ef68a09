/* Dtypes and devices. */
#include "layer.h"

#include <string.h>

PyTypeObject *dtype_type, *device_type;
static PyObject *known; /* (kind, value) -> Constant */

static const dtype_row rows[] = {
    {"bool", THUNDER_BOOL, "?", 1},      {"uint8", THUNDER_U8, "B", 1},        {"int8", THUNDER_I8, "b", 1},
    {"uint16", THUNDER_U16, "H", 2},     {"int16", THUNDER_I16, "h", 2},       {"uint32", THUNDER_U32, "I", 4},
    {"int32", THUNDER_I32, "i", 4},      {"uint64", THUNDER_U64, "L", 8},      {"int64", THUNDER_I64, "l", 8},
    {"bfloat16", THUNDER_BF16, NULL, 2}, {"float16", THUNDER_F16, "e", 2},     {"float32", THUNDER_F32, "f", 4},
    {"float64", THUNDER_F64, "d", 8},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

const dtype_row *dtype_find(thunder_dtype dtype)
{
    for (int i = 0; i < ROWS; i++)
        if (rows[i].dtype == dtype) return &rows[i];
    return NULL;
}

const dtype_row *dtype_of_name(const char *name)
{
    for (int i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    return NULL;
}

/* "bool, uint8, ... and float64". */
PyObject *dtype_names(void)
{
    PyObject *text = PyUnicode_FromString(rows[0].name);
    for (int i = 1; i < ROWS && text; i++) {
        PyObject *longer = PyUnicode_FromFormat(i + 1 < ROWS ? "%U, %s" : "%U and %s", text, rows[i].name);
        Py_DECREF(text);
        text = longer;
    }
    return text;
}

/* What kind of number a format's letter stands for: platforms have several letters for one. */
static char letter_class(char letter)
{
    return strchr("bhilqn", letter) ? 'i' : strchr("BHILQN", letter) ? 'u' : letter;
}

const dtype_row *dtype_of_format(const char *format, Py_ssize_t bytes)
{
    if (!format) format = "B";
    if (*format == '@' || *format == '=' || (*format == '<' && PY_LITTLE_ENDIAN)) format++;
    if (!format[0] || format[1]) return NULL;
    for (int i = 0; i < ROWS; i++)
        if (rows[i].format && rows[i].bytes == bytes && letter_class(rows[i].format[0]) == letter_class(format[0]))
            return &rows[i];
    return NULL;
}

PyObject *constant_of(thunder_kind kind, int32_t value)
{
    PyObject *key = Py_BuildValue("ii", (int)kind, (int)value);
    if (!key) return NULL;
    PyObject *found = PyDict_GetItemWithError(known, key);
    if (found) {
        Py_INCREF(found);
    } else if (!PyErr_Occurred()) {
        Constant *made = PyObject_New(Constant, kind == THUNDER_DTYPE ? dtype_type : device_type);
        if (made) {
            made->kind = kind, made->value = value;
            found = (PyObject *)made;
            if (PyDict_SetItem(known, key, found)) Py_CLEAR(found);
        }
    }
    Py_DECREF(key);
    return found;
}

const Constant *constant_test(PyObject *object)
{
    return Py_TYPE(object) == dtype_type || Py_TYPE(object) == device_type ? (const Constant *)object : NULL;
}

/* numpy's dtype, its scalar types and Python's own types have these names; float is double precision, as in PyTorch and numpy. */
static PyObject *name_of_type(PyObject *object)
{
    if (PyUnicode_Check(object)) return Py_NewRef(object);
    if (object == (PyObject *)&PyFloat_Type) return PyUnicode_FromString("float64");
    if (object == (PyObject *)&PyLong_Type) return PyUnicode_FromString("int64");
    PyObject *name = PyObject_GetAttrString(object, PyType_Check(object) ? "__name__" : "name");
    if (!name) PyErr_Clear();
    return name ? name : PyUnicode_FromFormat("%R", object);
}

bool dtype_from(PyObject *object, thunder_dtype *out)
{
    *out = 0;
    if (object == Py_None) return true;
    if (Py_TYPE(object) == dtype_type) {
        *out = ((Constant *)object)->value;
        return true;
    }
    PyObject *name = name_of_type(object);
    if (!name) return false;
    for (int i = 0; i < ROWS && !*out && PyUnicode_Check(name); i++)
        if (PyUnicode_CompareWithASCIIString(name, rows[i].name) == 0) *out = rows[i].dtype;
    if (!*out) {
        PyObject *all = dtype_names();
        if (all) PyErr_Format(PyExc_TypeError, "%R is no dtype: there are %U", object, all);
        Py_XDECREF(all);
    }
    Py_DECREF(name);
    return *out != 0;
}

bool device_from(PyObject *object, thunder_device *out)
{
    *out = 0;
    if (object == Py_None) return true;
    if (Py_TYPE(object) == device_type) {
        *out = ((Constant *)object)->value;
        return true;
    }
    const char *name = PyUnicode_Check(object) ? PyUnicode_AsUTF8(object) : NULL;
    int index = 0, used = 0;
    if (name && strcmp(name, "cpu") == 0)
        *out = THUNDER_CPU;
    else if (name && strcmp(name, "cuda") == 0)
        *out = THUNDER_CUDA(0);
    else if (name && sscanf(name, "cuda:%4d%n", &index, &used) == 1 && !name[used] && index >= 0)
        *out = THUNDER_CUDA(index);
    if (!*out && !PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "%R is no device: 'cpu', 'cuda' or 'cuda:N'", object);
    return *out != 0;
}

static PyObject *dtype_text(PyObject *object)
{
    const dtype_row *row = dtype_find(((Constant *)object)->value);
    return PyUnicode_FromFormat("thunder.%s", row ? row->name : "unknown");
}

static PyObject *device_text(PyObject *object)
{
    const int32_t value = ((Constant *)object)->value;
    if (value == THUNDER_CPU) return PyUnicode_FromString("cpu");
    if (value >> 16 == 2) return PyUnicode_FromFormat("cuda:%d", value & 0xffff);
    return PyUnicode_FromFormat("device(%d, %d)", value >> 16, value & 0xffff);
}

static PyObject *dtype_name(PyObject *object, void *unused)
{
    const dtype_row *row = dtype_find(((Constant *)object)->value);
    return PyUnicode_FromString(row ? row->name : "unknown");
}
static PyObject *dtype_itemsize(PyObject *object, void *unused)
{
    return PyLong_FromLong((((Constant *)object)->value & 0xff) / 8);
}
static PyObject *dtype_is_float(PyObject *object, void *unused)
{
    const int code = ((Constant *)object)->value >> 8;
    return PyBool_FromLong(code == THUNDER_F32 >> 8 || code == THUNDER_BF16 >> 8);
}

/* So that copies and pickles are the one object again. */
static PyObject *dtype_reduce(PyObject *object, PyObject *unused)
{
    PyObject *name = dtype_name(object, NULL);
    return name ? Py_BuildValue("O(N)", (PyObject *)dtype_type, name) : NULL;
}
static PyObject *device_reduce(PyObject *object, PyObject *unused)
{
    PyObject *name = device_text(object);
    return name ? Py_BuildValue("O(N)", (PyObject *)device_type, name) : NULL;
}

static PyObject *dtype_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    PyObject *object;
    thunder_dtype value;
    if (named && PyDict_Size(named)) return PyErr_Format(PyExc_TypeError, "dtype takes no keyword arguments");
    if (!PyArg_ParseTuple(args, "O:dtype", &object) || !dtype_from(object, &value)) return NULL;
    return value ? constant_of(THUNDER_DTYPE, value) : PyErr_Format(PyExc_TypeError, "None is no dtype");
}
static PyObject *device_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    PyObject *object;
    thunder_device value;
    if (named && PyDict_Size(named)) return PyErr_Format(PyExc_TypeError, "device takes no keyword arguments");
    if (!PyArg_ParseTuple(args, "O:device", &object) || !device_from(object, &value)) return NULL;
    return value ? constant_of(THUNDER_DEVICE, value) : PyErr_Format(PyExc_TypeError, "None is no device");
}

static PyGetSetDef dtype_members[] = {{"name", dtype_name, NULL, "As numpy names it.", NULL},
                                      {"itemsize", dtype_itemsize, NULL, "Bytes of an element.", NULL},
                                      {"is_floating_point", dtype_is_float, NULL, NULL, NULL},
                                      {NULL, NULL, NULL, NULL, NULL}};
static PyObject *device_kind(PyObject *object, void *unused)
{
    const int32_t value = ((Constant *)object)->value;
    return value == THUNDER_CPU ? PyUnicode_FromString("cpu") : value >> 16 == 2 ? PyUnicode_FromString("cuda") : device_text(object);
}
/* None of the host, as in PyTorch. */
static PyObject *device_index(PyObject *object, void *unused)
{
    const int32_t value = ((Constant *)object)->value;
    return value == THUNDER_CPU ? Py_NewRef(Py_None) : PyLong_FromLong(value & 0xffff);
}

static PyGetSetDef device_members[] = {{"type", device_kind, NULL, "'cpu' or 'cuda'.", NULL},
                                       {"index", device_index, NULL, "Which of several; None of the CPU.", NULL},
                                       {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef dtype_methods[] = {{"__reduce__", dtype_reduce, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyMethodDef device_methods[] = {{"__reduce__", device_reduce, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyType_Slot dtype_slots[] = {{Py_tp_repr, dtype_text},       {Py_tp_getset, dtype_members},
                                    {Py_tp_methods, dtype_methods}, {Py_tp_new, dtype_new},
                                    {Py_tp_doc, "The type of a tensor's elements."}, {0, NULL}};
static PyType_Slot device_slots[] = {{Py_tp_repr, device_text}, {Py_tp_methods, device_methods}, {Py_tp_getset, device_members},
                                     {Py_tp_new, device_new},   {Py_tp_doc, "Where a tensor's memory is."}, {0, NULL}};
static PyType_Spec dtype_spec = {"thunder.dtype", sizeof(Constant), 0, Py_TPFLAGS_DEFAULT, dtype_slots};
static PyType_Spec device_spec = {"thunder.device", sizeof(Constant), 0, Py_TPFLAGS_DEFAULT, device_slots};

int open_constants(PyObject *module)
{
    known = PyDict_New();
    dtype_type = add_type(module, &dtype_spec, NULL);
    device_type = add_type(module, &device_spec, NULL);
    if (!known || !dtype_type || !device_type) return -1;
    for (int i = 0; i < ROWS; i++) {
        PyObject *dtype = constant_of(THUNDER_DTYPE, rows[i].dtype);
        if (!dtype || PyModule_AddObject(module, rows[i].name, dtype)) return -1;
    }
    return 0;
}
