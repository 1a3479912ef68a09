/* The extension module: what is there once, and the list of its files. */
#include "layer.h"

/* Where a function is traced it would be seeded once, not at each call: it breaks there, and is run at each call, or that is an
 * error. */
static int break_graph_to_seed(void)
{
    static const char text[] = "seed() inside of a compiled function: its program would draw from what was seeded when it was traced, at "
                               "each call; call it before the function, or compile with fullgraph=False, where it acts at each call";
    const int64_t size = 1;
    const thunder_any shape = {.kind = THUNDER_DIMS, .count = 1, .u.d = &size};
    if (!here || !thunder_scope_is_tracing(here)) return 0;
    thunder_tensor *drawn = thunder_op_invoke(here, "zeros", &shape, 1, NULL, NULL, 0, NULL);
    if (scope_check(here)) return -1;
    const int concrete = tensor_materialize(drawn);
    PyObject *message = concrete ? NULL : PyUnicode_FromString(text);
    if (message) raise_message(THUNDER_PROXY_HAS_NO_DATA, message);
    Py_XDECREF(message);
    return concrete > 0 ? 0 : -1;
}

/* seed(integer) */
static PyObject *seed(PyObject *module, PyObject *number)
{
    const int64_t state[2] = {PyLong_AsLongLong(number), 0};
    if (PyErr_Occurred()) return integer_failed(number, "seed: the number"), NULL;
    if (break_graph_to_seed()) return NULL;
    return none_of(thunder_tensor_write(thunder_context_random(context), state, sizeof state));
}

static PyObject *initial_seed(PyObject *module, PyObject *unused)
{
    int64_t state[2] = {0, 0};
    if (check_status(thunder_tensor_read(thunder_context_random(context), state, sizeof state))) return NULL;
    return PyLong_FromLongLong(state[0]);
}

static PyObject *random_state(PyObject *module, PyObject *unused)
{
    return tensor_of(thunder_context_random(context));
}

/* set_stance(name): the name of the one before. */
static PyObject *set_stance(PyObject *module, PyObject *name)
{
    const char *wanted = PyUnicode_AsUTF8(name);
    if (!wanted) return NULL;
    PyObject *before = PyUnicode_FromString(thunder_context_stance(context));
    if (before && check_status(thunder_context_set_stance(context, wanted))) Py_CLEAR(before);
    return before;
}

/* set_printoptions(dict) */
static PyObject *set_printoptions(PyObject *module, PyObject *given)
{
    thunder_options *options = options_from(given);
    if (!options && PyErr_Occurred()) return NULL;
    const int failed = options && check_status(thunder_context_set_printoptions(context, options));
    thunder_options_release(options);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

static PyObject *version(PyObject *module, PyObject *unused)
{
    const unsigned v = thunder_version();
    return PyUnicode_FromFormat("%u.%u.%u", v / 10000, v / 100 % 100, v % 100);
}

static PyMethodDef functions[] = {
    {"seed", seed, METH_O,
     "seed(number)\n--\n\nThe same numbers are drawn after the same seed. Without one every process draws others."},
    {"initial_seed", initial_seed, METH_NOARGS,
     "initial_seed()\n--\n\nThe seed that holds, given or not: seed() of it in another process draws the same numbers."},
    {"random_state", random_state, METH_NOARGS,
     "random_state()\n--\n\nThe random state, int64[2]: save it, and copy_() it back to resume."},
    {"set_stance", set_stance, METH_O, NULL},
    {"set_printoptions", set_printoptions, METH_O, NULL},
    {"version", version, METH_NOARGS, "version()\n--\n\nOf the library that is running."},
    {NULL, NULL, 0, NULL}};

static int open_all(PyObject *module)
{
#define OPENED(file) open_##file,
    static int (*const parts[])(PyObject *) = {LAYER_FILES(OPENED)};
#undef OPENED
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i](module)) return -1;
    return PyModule_AddFunctions(module, functions);
}

PyMODINIT_FUNC PyInit__thunder(void)
{
    static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "thunder._thunder",
                                            .m_doc = "The part of the package that calls libthunder.", .m_size = -1};
    PyObject *module = PyModule_Create(&definition);
    if (!module) return NULL;
    const thunder_hooks hooks = {.size = sizeof hooks, .log = keep_log_line, .check_interrupts = check_signals};
    if (open_alive(module) || open_errors(module) || check_status(thunder_context_create(&hooks, &context)) || open_all(module)) Py_CLEAR(module);
    return module;
}
