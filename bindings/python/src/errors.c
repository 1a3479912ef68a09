/* Errors: statuses become exceptions, and exceptions travel through the library inside statuses. */
#include "layer.h"

#include <string.h>

PyObject *error_type;
static PyObject *out_of_memory_type; /* an Error of that code */
static PyObject *index_error_type;   /* an Error, and an IndexError */

static const char tag[] = "python";

/* Of a status, on any thread. After the interpreter's end there is nothing left to free. */
static void drop_exception(void *object)
{
    PyGILState_STATE state;
    if (!python_enter(&state)) return;
    Py_DECREF(object);
    python_leave(state);
}

/* ---- the log ---- */

enum { WARNING = 2 };

/* Lines that were not yet given to Python: the library says them while it has the interpreter unlocked. */
typedef struct line {
    struct line *next;
    int32_t level;
    const char *component; /* static */
    char text[];
} line;
static _Thread_local line *first, **last;

void keep_log_line(int32_t level, const char *component, const char *text, size_t bytes, void *user)
{
    line *said = malloc(sizeof *said + bytes + 1);
    if (!said) return;
    said->next = NULL, said->level = level, said->component = component;
    memcpy(said->text, text, bytes + 1);
    *(first ? last : &first) = said;
    last = &said->next;
}

static int show(const line *said)
{
    if (said->level >= WARNING) return PyErr_WarnEx(PyExc_RuntimeWarning, said->text, 1);
    PyObject *module = PyImport_ImportModule("thunder._logs");
    PyObject *done = module ? PyObject_CallMethod(module, "say", "iss", (int)said->level, said->component, said->text) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

int show_warning(void)
{
    int raised = 0;
    while (first) {
        line *said = first;
        first = said->next;
        if (!raised) raised = show(said);
        free(said);
    }
    return raised;
}

/* The message without the names of C functions in front, which the user of Python did not call. */
static const char *skip_function_names(const char *text)
{
    while (strncmp(text, "thunder_", 8) == 0) {
        const char *end = text + strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
        if (end[0] != ':' || end[1] != ' ') break;
        text = end + 2;
    }
    return text;
}

static PyObject *type_of(thunder_code number)
{
    if (number == THUNDER_OUT_OF_MEMORY) return out_of_memory_type;
    return number == THUNDER_OUT_OF_RANGE ? index_error_type : error_type;
}

void raise_message(thunder_code number, PyObject *message)
{
    PyObject *type = type_of(number);
    PyObject *code = PyLong_FromLong(number), *error = code ? PyObject_CallOneArg(type, message) : NULL;
    if (error && PyObject_SetAttrString(error, "code", code) == 0) PyErr_SetObject(type, error);
    Py_XDECREF(error);
    Py_XDECREF(code);
}

static void raise_error(const thunder_status *status)
{
    block_if_python_ends();
    const char *text = skip_function_names(thunder_status_message(status));
    PyObject *message = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    if (!message) return;
    raise_message(thunder_status_code(status), message);
    Py_DECREF(message);
}

int check_status(thunder_status *status)
{
    if (!status) return 0;
    PyObject *carried = thunder_status_foreign(status, tag);
    if (carried)
        PyErr_SetObject((PyObject *)Py_TYPE(carried), carried); /* with the traceback that it has */
    else
        raise_error(status);
    thunder_status_release(status);
    return -1;
}
PyObject *none_of(thunder_status *status) { return check_status(status) ? NULL : Py_NewRef(Py_None); }

int integer_failed(PyObject *number, const char *what, ...)
{
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return -1;
    PyErr_Clear();
    va_list arguments;
    va_start(arguments, what);
    PyObject *text = PyUnicode_FromFormatV(what, arguments);
    va_end(arguments);
    if (text) PyErr_Format(PyExc_OverflowError, "%U must fit 64 bits, got %S", text, number);
    Py_XDECREF(text);
    return -1;
}

void error_prefix(const char *what, ...)
{
    PyObject *type, *error, *traceback;
    PyObject *kind = PyErr_ExceptionMatches(PyExc_TypeError) ? PyExc_TypeError : PyExc_ValueError;
    if (!PyErr_ExceptionMatches(kind)) return;
    PyErr_Fetch(&type, &error, &traceback);
    va_list arguments;
    va_start(arguments, what);
    PyObject *prefix = PyUnicode_FromFormatV(what, arguments);
    va_end(arguments);
    if (prefix) PyErr_Format(kind, "%U: %S", prefix, error ? error : Py_None);
    Py_XDECREF(prefix);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
}

int count_from(PyObject *object, const char *what, size_t *out)
{
    PyObject *integer = PyNumber_Index(object);
    if (!integer) return -1;
    *out = PyLong_AsSize_t(integer);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        PyObject *text = PyUnicode_FromFormat("%s must be from 0 to %zu, got %S", what, SIZE_MAX, integer);
        Py_ssize_t bytes;
        const char *utf8 = text ? PyUnicode_AsUTF8AndSize(text, &bytes) : NULL;
        if (utf8) check_status(thunder_status_create(THUNDER_INVALID_ARGUMENT, utf8, (size_t)bytes));
        Py_XDECREF(text);
    }
    Py_DECREF(integer);
    return PyErr_Occurred() ? -1 : 0;
}

/* "ValueError: what it says", for hosts that do not know Python's objects. */
static thunder_status *status_of_text(PyObject *exception)
{
    PyObject *text = PyUnicode_FromFormat("%s: %S", Py_TYPE(exception)->tp_name, exception);
    Py_ssize_t bytes = 0;
    const char *utf8 = text ? PyUnicode_AsUTF8AndSize(text, &bytes) : NULL;
    if (!utf8) {
        PyErr_Clear();
        utf8 = Py_TYPE(exception)->tp_name, bytes = (Py_ssize_t)strlen(utf8);
    }
    /* KeyboardInterrupt and SystemExit end the call. With sizes given an exception is as what an op refuses: it is traced again with
     * plain sizes, and fails again unless a SymInt was the reason. */
    const bool error = PyErr_GivenExceptionMatches(exception, PyExc_Exception);
    const thunder_code code = !error ? THUNDER_CANCELLED : sizes_given ? THUNDER_INVALID_ARGUMENT : THUNDER_CALLBACK;
    thunder_status *made = thunder_status_create(code, utf8, (size_t)bytes);
    Py_XDECREF(text);
    return made;
}

thunder_status *status_of_exception(thunder_status *status)
{
    PyObject *type, *exception, *traceback;
    PyErr_Fetch(&type, &exception, &traceback);
    PyErr_NormalizeException(&type, &exception, &traceback);
    if (traceback) PyException_SetTraceback(exception, traceback);
    Py_XDECREF(traceback);
    Py_XDECREF(type);
    if (!status) status = status_of_text(exception);
    thunder_status_set_foreign(status, tag, exception, drop_exception);
    return status;
}

thunder_status *check_signals(void *unused)
{
    PyGILState_STATE state;
    if (!python_enter(&state)) return NULL;
    thunder_status *status = PyErr_CheckSignals() ? status_of_exception(NULL) : NULL;
    python_leave(state);
    return status;
}

int open_errors(PyObject *module)
{
    error_type = PyErr_NewExceptionWithDoc(
        "thunder.Error", "What the library refused. `code` is one of thunder.Code; the text is the message.",
        PyExc_RuntimeError, NULL);
    if (!error_type) return -1;
    PyObject *zero = PyLong_FromLong(THUNDER_CALLBACK);
    const int failed = !zero || PyObject_SetAttrString(error_type, "code", zero);
    Py_XDECREF(zero);
    out_of_memory_type = PyErr_NewExceptionWithDoc("thunder.OutOfMemoryError", "An Error: there was no memory, on the host or on a device.",
                                                   error_type, NULL);
    if (failed || !out_of_memory_type || PyModule_AddObjectRef(module, "OutOfMemoryError", out_of_memory_type)) return -1;
    PyObject *bases = PyTuple_Pack(2, error_type, PyExc_IndexError);
    index_error_type = bases ? PyErr_NewExceptionWithDoc("thunder._thunder.IndexError", "An Error that is Python's IndexError, too.", bases, NULL) : NULL;
    Py_XDECREF(bases);
    if (!index_error_type || PyModule_AddObjectRef(module, "IndexError", index_error_type)) return -1;
    return PyModule_AddObjectRef(module, "Error", error_type);
}
