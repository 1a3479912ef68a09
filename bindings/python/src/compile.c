/* Compiled functions: a Python callable, a trace or a program from a file, its compiled form and the values that its calls
 * reuse. */
#include "compiled.h"
#include "module.h"

/* Before a call of it: gives what was at work before. */
static host *enter_host(Compiled *self)
{
    host *outer = host_root;
    if (self->host && host_has_changed(self->host)) thunder_status_release(thunder_function_touch(self->handle));
    host_root = self->host;
    return outer;
}

/* Inside a traced function its own ops join what is recorded; on a tape it is a program with a backward. */
static PyObject *call_inside(Compiled *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    thunder_scope *scope = here;
    const bool joins = thunder_scope_is_tracing(scope);
    host *outer = joins ? host_root : enter_host(self);
    PyObject *result = NULL;
    thunder_values *in = values_new();
    if (in && values_add_call(in, args, count, names, self->any_names) == 0) {
        thunder_values *out = thunder_compiled_apply(scope, self->compiled, in);
        if (scope_check(scope) == 0) result = writes_perform(self->host, values_result(out, joins), args, count, names);
    }
    host_root = outer;
    thunder_values_release(in);
    return result;
}

static PyObject *run(Compiled *self, thunder_values *in, thunder_values *out, PyObject *const *args, Py_ssize_t count,
                     PyObject *names)
{
    if (values_add_call(in, args, count, names, self->any_names)) return NULL;
    host *outer = enter_host(self);
    PyThreadState *state = PyEval_SaveThread();
    thunder_status *failed = thunder_compiled_call(self->compiled, NULL, in, out);
    PyEval_RestoreThread(state);
    PyObject *result = check_status(failed) || show_warning() ? NULL : values_result(out, false);
    result = writes_perform(self->host, result, args, count, names);
    host_root = outer;
    return result;
}

static PyObject *compiled_call(PyObject *object, PyObject *const *args, size_t count, PyObject *names)
{
    Compiled *self = (Compiled *)object;
    if (is_recording()) return call_inside(self, args, PyVectorcall_NARGS(count), names);
    const bool own = !self->busy;
    thunder_values *in = self->in, *out = self->out;
    if (!own) {
        in = values_new(), out = values_new();
        if (!in || !out) {
            thunder_values_release(in);
            thunder_values_release(out);
            return NULL;
        }
    }
    self->busy = true;
    Py_INCREF(object);
    PyObject *result = run(self, in, out, args, PyVectorcall_NARGS(count), names);
    if (own) {
        thunder_values_reset(in);
        thunder_values_reset(out);
        self->busy = false;
    } else {
        thunder_values_release(in);
        thunder_values_release(out);
    }
    Py_DECREF(object);
    return result;
}

static PyObject *owned_function(PyObject *owner) { return Py_XNewRef(((Compiled *)owner)->function); }

static int init_compiled(Compiled *self, const char *name, PyObject *options)
{
    self->callback = callback_new((PyObject *)self, owned_function);
    if (!self->callback) return -1;
    if (check_status(thunder_function_create(context, name, callback_run, self->callback, callback_destroy, &self->handle))) return -1;
    callback_set_hooks(self->callback, host_run, writes_add);
    self->host = host_new(self->callback, self->handle);
    if (!self->host) return -1;
    self->host->quiet = PyDict_Check(options) && PyDict_GetItemString(options, "sharp_edges");
    thunder_options *given = options_from(options);
    if (PyErr_Occurred()) return -1;
    const int failed = check_status(thunder_compile(self->handle, given, &self->compiled));
    thunder_options_release(given);
    self->in = values_new();
    self->out = values_new();
    return failed || !self->in || !self->out ? -1 : 0;
}

/* Compiled(function, name, options or None, whether it takes any names) */
static PyObject *compiled_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    PyObject *function, *options = Py_None;
    const char *name;
    int any_names = 0;
    if (!PyArg_ParseTuple(args, "Os|Op:Compiled", &function, &name, &options, &any_names)) return NULL;
    Compiled *self = (Compiled *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->call = compiled_call;
    self->any_names = any_names != 0;
    self->function = Py_NewRef(function);
    self->options = Py_NewRef(options);
    if (init_compiled(self, name, options) == 0) return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

PyObject *compiled_wrap(PyObject *name, thunder_function *function, thunder_compiled *compiled)
{
    Compiled *self = (Compiled *)compiled_type->tp_alloc(compiled_type, 0);
    if (!self) {
        thunder_compiled_release(compiled);
        thunder_function_release(function);
        return NULL;
    }
    self->call = compiled_call;
    self->function = Py_NewRef(name);
    self->options = Py_NewRef(Py_None);
    self->handle = function;
    self->compiled = compiled;
    self->in = values_new();
    self->out = self->in ? values_new() : NULL;
    if (self->out) return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static int compiled_traverse(PyObject *object, visitproc visit, void *arg)
{
    Compiled *self = (Compiled *)object;
    Py_VISIT(self->function);
    Py_VISIT(self->options);
    Py_VISIT(self->dict);
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->host_of);
    return self->host_of ? 0 : host_traverse(self->host, visit, arg);
}

static int compiled_clear(PyObject *object)
{
    Compiled *self = (Compiled *)object;
    if (self->host_of)
        self->host = NULL;
    else
        host_clear(self->host);
    Py_CLEAR(self->host_of);
    Py_CLEAR(((Compiled *)object)->function);
    Py_CLEAR(((Compiled *)object)->options);
    Py_CLEAR(((Compiled *)object)->dict);
    return 0;
}

static void compiled_dealloc(PyObject *object)
{
    Compiled *self = (Compiled *)object;
    PyObject_GC_UnTrack(object);
    if (self->weak) PyObject_ClearWeakRefs(object);
    compiled_clear(object);
    callback_forget_owner(self->callback);
    thunder_compiled_release(self->compiled);
    thunder_function_release(self->handle);
    thunder_values_release(self->in);
    thunder_values_release(self->out);
    host_free(self->host);
    free_object(object);
}

/* Does something with a call's arguments, which gives nothing. */
typedef thunder_status *(*use_of_call)(thunder_compiled *compiled, const thunder_values *in, size_t number);

static PyObject *use_call(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names, use_of_call use, size_t number)
{
    thunder_values *in = values_new();
    int failed = !in || values_add_call(in, args, count, names, ((Compiled *)object)->any_names);
    if (!failed) {
        host *outer = enter_host((Compiled *)object);
        PyThreadState *state = PyEval_SaveThread();
        thunder_status *status = use(((Compiled *)object)->compiled, in, number);
        PyEval_RestoreThread(state);
        host_root = outer;
        failed = check_status(status) || show_warning();
    }
    thunder_values_release(in);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

static thunder_status *prepare_use(thunder_compiled *compiled, const thunder_values *in, size_t number)
{
    return thunder_compiled_prepare(compiled, in);
}

static thunder_status *examine_use(thunder_compiled *compiled, const thunder_values *in, size_t number)
{
    return thunder_compiled_examine(compiled, in);
}

/* prepare(*args, **named) */
static PyObject *prepare_for(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    return use_call(object, args, count, names, prepare_use, 0);
}

/* examine(*args, **named) */
static PyObject *examine_for(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    return use_call(object, args, count, names, examine_use, 0);
}

/* profile(runs, *args, **named) */
static PyObject *profile_for(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    size_t runs = 0;
    if (count < 1) return PyErr_SetString(PyExc_TypeError, "profile: the number of runs is missing"), NULL;
    if (count_from(args[0], "profile: runs", &runs)) return NULL;
    return use_call(object, args + 1, count - 1, names, thunder_compiled_profile, runs);
}

static PyObject *statistics(PyObject *object, PyObject *unused)
{
    thunder_statistics s = {.size = sizeof s};
    if (check_status(thunder_compiled_statistics(((Compiled *)object)->compiled, &s))) return NULL;
    return Py_BuildValue("{sK sK sK sK sK sK sK sK sK sK sK sK}", "calls", (unsigned long long)s.calls, "hits", (unsigned long long)s.hits,
                         "misses", (unsigned long long)s.misses, "entries", (unsigned long long)s.entries, "trace_ns",
                         (unsigned long long)s.trace_ns, "transform_ns", (unsigned long long)s.transform_ns, "compile_ns",
                         (unsigned long long)s.compile_ns, "plan_ns", (unsigned long long)s.plan_ns, "peak_arena_bytes", (unsigned long long)s.peak_arena_bytes, "eager_calls",
                         (unsigned long long)s.eager_calls, "segments", (unsigned long long)s.segments, "graph_breaks",
                         (unsigned long long)s.graph_breaks);
}

typedef thunder_status *(*stage_fn)(const thunder_compiled *compiled, size_t stage, thunder_trace **out);

static void drop_trace(PyObject *capsule) { thunder_trace_release(PyCapsule_GetPointer(capsule, TRACE_CAPSULE)); }

/* (pass, milliseconds, text, the trace itself) of each stage. */
static PyObject *stages(const thunder_compiled *compiled, size_t count, stage_fn stage)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < count; i++) {
        thunder_trace *trace = NULL;
        PyObject *row = NULL;
        PyObject *kept = check_status(stage(compiled, i, &trace)) ? NULL : PyCapsule_New(trace, TRACE_CAPSULE, drop_trace);
        if (kept)
            row = Py_BuildValue("sdsN", thunder_trace_name(trace), thunder_trace_milliseconds(trace), thunder_trace_text(trace), kept);
        else
            thunder_trace_release(trace);
        if (!row || PyList_Append(list, row)) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* traces(): of the program compiled last. */
static PyObject *traces(PyObject *object, PyObject *unused)
{
    const thunder_compiled *compiled = ((Compiled *)object)->compiled;
    return stages(compiled, thunder_compiled_trace_count(compiled), thunder_compiled_trace);
}

/* backward_traces(): of the backward program that ran last. */
static PyObject *backward_traces(PyObject *object, PyObject *unused)
{
    const thunder_compiled *compiled = ((Compiled *)object)->compiled;
    return stages(compiled, thunder_compiled_backward_trace_count(compiled), thunder_compiled_backward_trace);
}

/* program_module(class): the weights of a program that an ONNX model is, as an object of that class of modules. */
static PyObject *program_module(PyObject *object, PyObject *type)
{
    thunder_module *module = NULL;
    if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, module_type)) {
        PyErr_SetString(PyExc_TypeError, "program_module: a class of modules was expected");
        return NULL;
    }
    if (check_status(thunder_compiled_module(((Compiled *)object)->compiled, &module))) return NULL;
    PyObject *made = module_wrap((PyTypeObject *)type, module);
    thunder_module_release(module);
    return made;
}

static PyMethodDef methods[] = {
    {"program_module", program_module, METH_O, NULL},
    {"stats", statistics, METH_NOARGS, "Counts of calls and programs, and nanoseconds spent on compiling."},
    {"traces", traces, METH_NOARGS, NULL},
    {"backward_traces", backward_traces, METH_NOARGS, NULL},
    {"prepare", (PyCFunction)(void (*)(void))prepare_for, METH_FASTCALL | METH_KEYWORDS,
     "Compiles for these arguments what a call would compile, and runs nothing."},
    {"profile", (PyCFunction)(void (*)(void))profile_for, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"examine", (PyCFunction)(void (*)(void))examine_for, METH_FASTCALL | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL}};
static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Compiled, call), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(Compiled, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Compiled, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};
static PyGetSetDef getset[] = {{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
                               {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot slots[] = {{Py_tp_new, compiled_new},           {Py_tp_dealloc, compiled_dealloc},
                              {Py_tp_traverse, compiled_traverse}, {Py_tp_clear, compiled_clear},
                              {Py_tp_call, PyVectorcall_Call},     {Py_tp_descr_get, bind_method},
                              {Py_tp_methods, methods},            {Py_tp_members, members},
                              {Py_tp_getset, getset},              {0, NULL}};
static PyType_Spec spec = {"thunder.Compiled", sizeof(Compiled), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
                           slots};

int open_compile(PyObject *module)
{
    compiled_type = add_type(module, &spec, NULL);
    return compiled_type ? 0 : -1;
}
