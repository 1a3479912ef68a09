/* Tracebacks that end in the user's lines: an exception leaves a covered function without the lines of this package. */
#include "layer.h"

typedef struct Boundary {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *function, *dict; /* __doc__, __name__, __wrapped__ */
} Boundary;

static bool whole; /* the package's lines stay: for who works on it */

static PyTracebackObject *next_of_user(PyTracebackObject *entry)
{
    while (entry && frame_is_ours(entry->tb_frame)) entry = entry->tb_next;
    return entry;
}

/* Takes the reference over. */
static PyObject *without_ours(PyObject *traceback)
{
    if (!traceback || !PyTraceBack_Check(traceback)) return traceback;
    PyTracebackObject *first = (PyTracebackObject *)Py_XNewRef(next_of_user((PyTracebackObject *)traceback));
    Py_DECREF(traceback);
    for (PyTracebackObject *entry = first; entry; entry = entry->tb_next) {
        PyTracebackObject *next = (PyTracebackObject *)Py_XNewRef(next_of_user(entry->tb_next));
        Py_XSETREF(entry->tb_next, next);
    }
    return (PyObject *)first;
}

static PyObject *boundary_call(PyObject *object, PyObject *const *args, size_t count, PyObject *names)
{
    PyObject *result = PyObject_Vectorcall(((Boundary *)object)->function, args, count, names);
    if (result || whole) return result;
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    traceback = without_ours(traceback);
    /* A new one is added to by the lines that it passes; the exception must not bring back the old one. */
    if (error && !traceback) PyException_SetTraceback(error, Py_None);
    if (error && traceback) PyException_SetTraceback(error, traceback);
    PyErr_Restore(type, error, traceback);
    return NULL;
}

/* api_boundary(function) */
static PyObject *boundary_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    PyObject *function;
    if (named && PyDict_Size(named)) return PyErr_Format(PyExc_TypeError, "api_boundary takes no keyword arguments");
    if (!PyArg_ParseTuple(args, "O:api_boundary", &function)) return NULL;
    Boundary *self = (Boundary *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->call = boundary_call;
    self->function = Py_NewRef(function);
    return (PyObject *)self;
}

static int boundary_traverse(PyObject *object, visitproc visit, void *arg)
{
    Boundary *self = (Boundary *)object;
    Py_VISIT(self->function);
    Py_VISIT(self->dict);
    Py_VISIT(Py_TYPE(object));
    return 0;
}

static int boundary_clear(PyObject *object)
{
    Py_CLEAR(((Boundary *)object)->function);
    Py_CLEAR(((Boundary *)object)->dict);
    return 0;
}

static void boundary_dealloc(PyObject *object)
{
    PyObject_GC_UnTrack(object);
    boundary_clear(object);
    free_object(object);
}

static PyObject *boundary_repr(PyObject *object) { return PyObject_Repr(((Boundary *)object)->function); }

/* By name, as functions are pickled. */
static PyObject *boundary_reduce(PyObject *object, PyObject *unused)
{
    return PyObject_GetAttrString(object, "__qualname__");
}

/* keep_own_lines(bool) */
static PyObject *keep_own_lines(PyObject *module, PyObject *keep)
{
    const int truth = PyObject_IsTrue(keep);
    if (truth < 0) return NULL;
    whole = truth;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"__reduce__", boundary_reduce, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(Boundary, call), READONLY, NULL},
                                {"__dictoffset__", T_PYSSIZET, offsetof(Boundary, dict), READONLY, NULL},
                                {NULL, 0, 0, 0, NULL}};
static PyGetSetDef getset[] = {{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
                               {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot slots[] = {{Py_tp_new, boundary_new},           {Py_tp_dealloc, boundary_dealloc},
                              {Py_tp_traverse, boundary_traverse}, {Py_tp_clear, boundary_clear},
                              {Py_tp_call, PyVectorcall_Call},     {Py_tp_repr, boundary_repr},
                              {Py_tp_descr_get, bind_method},    {Py_tp_methods, methods},
                              {Py_tp_members, members},            {Py_tp_getset, getset},
                              {0, NULL}};
static PyType_Spec spec = {"thunder._thunder.api_boundary", sizeof(Boundary), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
                           slots};

int open_traceback(PyObject *module)
{
    static PyMethodDef functions[] = {{"keep_own_lines", keep_own_lines, METH_O, NULL}, {NULL, NULL, 0, NULL}};
    return add_type(module, &spec, NULL) ? PyModule_AddFunctions(module, functions) : -1;
}
