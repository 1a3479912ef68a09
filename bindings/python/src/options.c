/* Dicts of names and values as the library's options, which judge them. */
#include "layer.h"

#include <string.h>

/* ["mine", "host"] is written "mine,host". */
static int set_names(thunder_options *options, const char *name, PyObject *list)
{
    PyObject *comma = PyUnicode_FromString(","), *text = comma ? PyUnicode_Join(comma, list) : NULL;
    const char *utf8 = text ? PyUnicode_AsUTF8(text) : NULL;
    if (utf8) thunder_options_set_str(options, name, utf8);
    Py_XDECREF(text);
    Py_XDECREF(comma);
    return utf8 ? 0 : -1;
}

static int set_numbers(thunder_options *options, const char *name, PyObject *list)
{
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(list);
    double *numbers = PyMem_Calloc((size_t)count, sizeof *numbers);
    if (!numbers) return PyErr_NoMemory(), -1;
    for (Py_ssize_t i = 0; i < count; i++) numbers[i] = PyFloat_AsDouble(PySequence_Fast_GET_ITEM(list, i));
    const thunder_any any = {.kind = THUNDER_FLOATS, .count = (uint32_t)count, .u.fs = numbers};
    if (!PyErr_Occurred()) thunder_options_set(options, name, &any);
    PyMem_Free(numbers);
    return PyErr_Occurred() ? -1 : 0;
}

/* An executor, a pass or a function for this compile alone; false: it is none. */
static bool add_object(thunder_options *options, const char *name, PyObject *value)
{
    thunder_executor *executor = executor_test(value);
    thunder_pass *pass = pass_test(value);
    if (executor && strcmp(name, "executors") == 0)
        thunder_options_add_executor(options, executor);
    else if (pass && strcmp(name, "passes") == 0)
        thunder_options_add_pass(options, pass);
    else if (compiled_test(value))
        thunder_options_set_function(options, name, compiled_function(value));
    else
        return false;
    return true;
}

static int set_list(thunder_options *options, const char *name, PyObject *value)
{
    PyObject *list = PySequence_Fast(value, "a list"), *rest = PyList_New(0);
    int failed = !list || !rest;
    for (Py_ssize_t i = 0; !failed && i < PySequence_Fast_GET_SIZE(list); i++) {
        PyObject *one = PySequence_Fast_GET_ITEM(list, i);
        if (!add_object(options, name, one)) failed = PyList_Append(rest, one);
    }
    if (!failed && (PyList_GET_SIZE(rest) || (!PySequence_Fast_GET_SIZE(list) && strcmp(name, "passes") != 0))) {
        const bool names = PyList_GET_SIZE(rest) == 0 || !PyNumber_Check(PyList_GET_ITEM(rest, 0));
        failed = names ? set_names(options, name, rest) : set_numbers(options, name, rest);
    }
    Py_XDECREF(list);
    Py_XDECREF(rest);
    return failed ? -1 : 0;
}

static int set_option(thunder_options *options, const char *name, PyObject *value)
{
    if (add_object(options, name, value) || value == Py_None) return 0; /* as if it were not given */
    if (PyBool_Check(value)) {
        thunder_options_set_bool(options, name, value == Py_True);
    } else if (PyLong_Check(value)) {
        const long long number = PyLong_AsLongLong(value);
        if (number == -1 && PyErr_Occurred()) return integer_failed(value, "option '%s'", name);
        thunder_options_set_i64(options, name, number);
    } else if (PyUnicode_Check(value)) {
        const char *text = PyUnicode_AsUTF8(value);
        if (text) thunder_options_set_str(options, name, text);
    } else if (PyList_Check(value) || PyTuple_Check(value)) {
        return set_list(options, name, value);
    } else {
        const double number = PyFloat_AsDouble(value);
        if (!PyErr_Occurred()) thunder_options_set_f64(options, name, number);
    }
    return PyErr_Occurred() ? -1 : 0;
}

thunder_options *options_from(PyObject *dict)
{
    if (!dict || dict == Py_None || !PyDict_Size(dict)) return NULL;
    thunder_options *made = NULL;
    if (check_status(thunder_options_create(context, &made))) return NULL;
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(dict, &at, &key, &value)) {
        const char *name = PyUnicode_Check(key) ? PyUnicode_AsUTF8(key) : NULL;
        if (!name && !PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "the name of an option is a str, not %R", key);
        if (!name || (value != Py_None && set_option(made, name, value))) {
            thunder_options_release(made);
            return NULL;
        }
    }
    return made;
}
