/* Arguments of ops and of kinds of modules. */
#include "op.h"
#include "tensor.h"

#include <string.h>

static int refuse(const arguments *c, const parameter *p, PyObject *object, const char *wanted)
{
    PyErr_Format(PyExc_TypeError, "%s: argument '%s' must be %s, not %s", c->signature->name, p->name, wanted,
                 Py_TYPE(object)->tp_name);
    return -1;
}

/* After a conversion that is not ours: its exception with the op and the argument in front. */
static int fail(const arguments *c, const parameter *p)
{
    error_prefix("%s: argument '%s'", c->signature->name, p->name);
    return -1;
}

void *arguments_block(arguments *c, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (c->used + bytes <= INLINE_BYTES) {
        void *found = c->memory + c->used;
        c->used += bytes;
        return found;
    }
    void *made = PyMem_Malloc(bytes);
    if (made)
        c->blocks[c->n_blocks++] = made;
    else
        PyErr_NoMemory();
    return made;
}

/* ---- lists ---- */

static int integer_of(const arguments *c, const parameter *p, PyObject *object, int64_t *out)
{
    *out = PyLong_AsLongLong(object); /* asks __index__, and refuses floats */
    if (*out != -1 || !PyErr_Occurred()) return 0;
    return integer_failed(object, "%s: argument '%s'", c->signature->name, p->name);
}

/* Of 64 bits, with a sign or, where no sign is and it is larger, without one. */
static int read_number(const arguments *c, const parameter *p, PyObject *object, thunder_any *out)
{
    int overflow = 0;
    out->kind = THUNDER_INT, out->u.i = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow > 0 && (p->kind == TAKES_TENSOR || p->kind == TAKES_ANY)) {
        out->kind = THUNDER_UINT, out->u.i = (int64_t)PyLong_AsUnsignedLongLong(object);
        overflow = PyErr_Occurred() != NULL;
        PyErr_Clear();
    }
    return overflow ? integer_of(c, p, object, &out->u.i) : 0;
}

static int list_of_integers(arguments *c, const parameter *p, PyObject *const *items, Py_ssize_t count, thunder_any *out)
{
    thunder_dim *dims = arguments_block(c, (size_t)count * sizeof *dims);
    if (!dims) return -1;
    for (Py_ssize_t i = 0; i < count; i++)
        if (size_test(items[i]) ? size_word(items[i], &dims[i]) : integer_of(c, p, items[i], &dims[i])) {
            if (!PyErr_ExceptionMatches(PyExc_TypeError)) return fail(c, p);
            PyErr_Clear();
            return refuse(c, p, items[i], "a list of integers");
        }
    *out = (thunder_any){.kind = THUNDER_DIMS, .count = (uint32_t)count, .u.d = dims};
    return 0;
}

static int list_of_floats(arguments *c, const parameter *p, PyObject *const *items, Py_ssize_t count, thunder_any *out)
{
    double *numbers = arguments_block(c, (size_t)count * sizeof *numbers);
    if (!numbers) return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        numbers[i] = PyFloat_AsDouble(items[i]);
        if (numbers[i] == -1.0 && PyErr_Occurred()) {
            PyErr_Clear();
            return refuse(c, p, items[i], "a list of numbers");
        }
    }
    *out = (thunder_any){.kind = THUNDER_FLOATS, .count = (uint32_t)count, .u.fs = numbers};
    return 0;
}

static bool make_room(arguments *c)
{
    if (c->n_kept < c->room) return true;
    const int room = c->room ? 2 * c->room : INLINE_KEPT;
    thunder_tensor **kept = c->room ? PyMem_Malloc((size_t)room * sizeof *kept) : c->few;
    if (!kept) return PyErr_NoMemory(), false;
    if (c->n_kept) memcpy(kept, c->kept, (size_t)c->n_kept * sizeof *kept);
    if (c->room > INLINE_KEPT) PyMem_Free(c->kept);
    c->kept = kept, c->room = room;
    return true;
}

/* Another library's array as a tensor until arguments_free(). */
static thunder_tensor *foreign_tensor(arguments *c, const parameter *p, PyObject *object)
{
    if (!make_room(c)) return NULL;
    thunder_tensor *made = tensor_of_call(object);
    if (!made) return fail(c, p), NULL;
    return c->kept[c->n_kept++] = made;
}

static int list_of_tensors(arguments *c, const parameter *p, PyObject *const *items, Py_ssize_t count, thunder_any *out)
{
    thunder_tensor **tensors = arguments_block(c, (size_t)count * sizeof *tensors);
    if (!tensors) return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!tensor_test(items[i]) && !foreign_test(items[i])) return refuse(c, p, items[i], "a list of tensors");
        tensors[i] = tensor_test(items[i]) ? tensor_handle(items[i]) : foreign_tensor(c, p, items[i]);
        if (!tensors[i]) return -1;
    }
    *out = (thunder_any){.kind = THUNDER_TENSORS, .count = (uint32_t)count, .u.ts = tensors};
    return 0;
}

static int list_argument(arguments *c, const parameter *p, PyObject *list, thunder_any *out)
{
    PyObject *const *items = PySequence_Fast_ITEMS(list);
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(list);
    switch (p->kind) {
        case TAKES_DIMS: return list_of_integers(c, p, items, count, out);
        case TAKES_FLOATS: return list_of_floats(c, p, items, count, out);
        case TAKES_TENSORS: return list_of_tensors(c, p, items, count, out);
        case TAKES_TENSOR: return refuse(c, p, list, "a tensor (thunder.tensor() makes one of a list)");
        default: return refuse(c, p, list, "no list");
    }
}

/* ---- one argument ---- */

static int argument(arguments *c, const parameter *p, PyObject *object, thunder_any *out);

/* Arrays of other libraries, and numbers that are not Python's own. */
static int foreign_argument(arguments *c, const parameter *p, PyObject *object, thunder_any *out)
{
    PyObject *number = scalar_number(object);
    if (number) {
        const int failed = argument(c, p, number, out);
        Py_DECREF(number);
        return failed;
    }
    if (PyErr_Occurred()) return fail(c, p);
    if (p->kind == TAKES_TENSOR && foreign_test(object)) {
        thunder_tensor *made = foreign_tensor(c, p, object);
        if (!made) return -1;
        *out = (thunder_any){.kind = THUNDER_TENSOR, .u.t = made};
        return 0;
    }
    if (PyIndex_Check(object)) {
        out->kind = THUNDER_INT;
        return integer_of(c, p, object, &out->u.i) ? fail(c, p) : 0;
    }
    if (Py_TYPE(object)->tp_as_number && Py_TYPE(object)->tp_as_number->nb_float) {
        out->kind = THUNDER_FLOAT, out->u.f = PyFloat_AsDouble(object);
        return PyErr_Occurred() ? fail(c, p) : 0;
    }
    static const char *const wanted[] = {"something else", "a tensor or a number", "an integer", "a number", "a list of integers",
                                         "a list of numbers", "a list of tensors", "a dtype", "a device"};
    return refuse(c, p, object, wanted[p->kind]);
}

static int string_argument(const arguments *c, const parameter *p, PyObject *object, thunder_any *out)
{
    Py_ssize_t bytes;
    out->kind = THUNDER_STRING, out->u.s = PyUnicode_AsUTF8AndSize(object, &bytes);
    if (!out->u.s) return fail(c, p);
    out->count = (uint32_t)bytes;
    return 0;
}

static int constant_argument(const arguments *c, const parameter *p, PyObject *object, thunder_any *out)
{
    int32_t value = 0;
    if (!(p->kind == TAKES_DTYPE ? dtype_from(object, &value) : device_from(object, &value))) return fail(c, p);
    out->kind = !value ? THUNDER_NONE : p->kind == TAKES_DTYPE ? THUNDER_DTYPE : THUNDER_DEVICE;
    out->u.i = value;
    return 0;
}

/* A tensor without dims in the place of a number, as in PyTorch. */
static int number_argument(arguments *c, const parameter *p, PyObject *tensor, thunder_any *out)
{
    PyObject *number = tensor_item(tensor, NULL);
    const int failed = number ? argument(c, p, number, out) : fail(c, p);
    Py_XDECREF(number);
    return failed;
}

/* A number that a traced function computed, where an op wants a plain one: it is read, where the function may read values. */
static bool is_computed_number(const parameter *p, PyObject *object)
{
    if (p->kind != TAKES_FLOAT || !tensor_test(object) || ((Tensor *)object)->live) return false;
    const thunder_tensor *tensor = tensor_handle(object);
    return here && thunder_scope_is_tracing(here) && thunder_tensor_rank(tensor) == 0 && !thunder_tensor_is_concrete(tensor);
}

static int argument(arguments *c, const parameter *p, PyObject *object, thunder_any *out)
{
    *out = (thunder_any){.kind = THUNDER_NONE, .u.i = 0};
    if ((p->kind == TAKES_FLOAT || p->kind == TAKES_INT) && tensor_is_number(object, p->kind == TAKES_INT)) return number_argument(c, p, object, out);
    if (is_computed_number(p, object)) return number_argument(c, p, object, out);
    if ((tensor_test(object) || size_test(object)) && p->kind == TAKES_DIMS) return list_of_integers(c, p, &object, 1, out); /* x.view(n) */
    if (tensor_test(object)) {
        out->kind = THUNDER_TENSOR, out->u.t = tensor_handle(object);
        return 0;
    }
    if (object == Py_None) return 0;
    if (size_test(object)) {
        out->kind = THUNDER_INT;
        return size_word(object, &out->u.i);
    }
    if (p->kind == TAKES_DTYPE || p->kind == TAKES_DEVICE) return constant_argument(c, p, object, out);
    if (PyBool_Check(object)) {
        out->kind = THUNDER_BOOLEAN, out->u.i = object == Py_True;
        return 0;
    }
    if (PyLong_Check(object)) return read_number(c, p, object, out);
    if (PyFloat_Check(object)) {
        out->kind = THUNDER_FLOAT, out->u.f = PyFloat_AS_DOUBLE(object);
        return 0;
    }
    if (PyUnicode_Check(object)) return string_argument(c, p, object, out);
    if (PyList_CheckExact(object) || PyTuple_Check(object)) return list_argument(c, p, object, out);
    return foreign_argument(c, p, object, out);
}

/* ---- all arguments ---- */

static bool only_integers(PyObject *const *args, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++)
        if ((!PyLong_Check(args[i]) || PyBool_Check(args[i])) && !size_test(args[i])) return false;
    return true;
}

static int positional(arguments *c, PyObject *const *args, Py_ssize_t count)
{
    const signature *s = c->signature;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (i >= s->n_parameters) {
            PyErr_Format(PyExc_TypeError, "%s takes at most %d arguments, %zd were given", s->name, s->n_parameters, count);
            return -1;
        }
        const parameter *p = &s->parameters[i];
        thunder_any *out = &c->any[c->count];
        c->names[c->count++] = NULL;
        if (p->gathers && count - i > 1 && only_integers(args + i, count - i))
            return list_of_integers(c, p, args + i, count - i, out);
        if (argument(c, p, args[i], out)) return -1;
    }
    return 0;
}

/* numpy's names, which PyTorch takes as well. */
static const char *const aliases[][2] = {{"axis", "dim"}, {"keepdims", "keepdim"}};

static const parameter *parameter_named(const signature *s, PyObject *name)
{
    for (int i = 0; i < s->n_parameters; i++)
        if (s->parameters[i].word == name) return &s->parameters[i];
    for (int i = 0; i < s->n_parameters; i++)
        if (PyUnicode_Compare(s->parameters[i].word, name) == 0) return &s->parameters[i];
    for (size_t alias = 0; alias < sizeof aliases / sizeof aliases[0]; alias++)
        for (int i = 0; i < s->n_parameters && PyUnicode_CompareWithASCIIString(name, aliases[alias][0]) == 0; i++)
            if (strcmp(s->parameters[i].name, aliases[alias][1]) == 0) return &s->parameters[i];
    return NULL;
}

/* "; it takes input, dim, dtype" */
static PyObject *all_names(const signature *s)
{
    PyObject *text = PyUnicode_FromString(s->n_parameters ? "; it takes" : "; it takes none");
    for (int i = 0; text && i < s->n_parameters; i++) {
        PyObject *longer = PyUnicode_FromFormat("%U%s %s", text, i ? "," : "", s->parameters[i].name);
        Py_DECREF(text);
        text = longer;
    }
    return text;
}

static int refuse_name(const signature *s, PyObject *name)
{
    const char *names[MAX_ARGUMENTS], *text = PyUnicode_AsUTF8(name);
    for (int i = 0; i < s->n_parameters; i++) names[i] = s->parameters[i].name;
    PyObject *near = text ? suggestion(text, names, (size_t)s->n_parameters) : NULL, *all = near ? all_names(s) : NULL;
    const char *said = all ? PyUnicode_AsUTF8(near) : NULL;
    if (said) /* which is a list of all names where none is near and they are few */
        PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'%U%s", s->name, name, near,
                     strstr(said, "; there ") ? "" : PyUnicode_AsUTF8(all));
    Py_XDECREF(all);
    Py_XDECREF(near);
    return -1;
}

/* Whether it is `memory_format` of an op that PyTorch gives one, with a value that asks for what new tensors have: 0 for no such
   argument, -1 for another value. */
static int memory_format(const signature *s, PyObject *name, PyObject *value)
{
    const size_t length = strlen(s->name);
    const bool like = length > 5 && strcmp(s->name + length - 5, "_like") == 0;
    if (PyUnicode_CompareWithASCIIString(name, "memory_format") != 0) return 0;
    if (!like && strcmp(s->name, "clone") != 0 && strcmp(s->name, "contiguous") != 0 && strcmp(s->name, "empty") != 0) return 0;
    PyObject *module = PyImport_ImportModule("thunder._memory_format");
    PyObject *checked = module ? PyObject_CallMethod(module, "check", "sO", s->name, value) : NULL;
    Py_XDECREF(checked);
    Py_XDECREF(module);
    return checked ? 1 : -1;
}

static int keywords(arguments *c, PyObject *const *args, PyObject *names)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        const parameter *p = parameter_named(c->signature, name);
        if (!p && c->signature->takes_out && PyUnicode_CompareWithASCIIString(name, "out") == 0) {
            c->out = args[i] == Py_None ? NULL : args[i];
            continue;
        }
        if (!p && c->signature->creates && PyUnicode_CompareWithASCIIString(name, "requires_grad") == 0) {
            c->requires_grad = args[i];
            continue;
        }
        const int format = p ? 0 : memory_format(c->signature, name, args[i]);
        if (format < 0) return -1;
        if (format) continue;
        if (!p || c->count == MAX_ARGUMENTS) return refuse_name(c->signature, name);
        thunder_any *out = &c->any[c->count];
        c->names[c->count++] = p->name;
        c->named = true;
        if (argument(c, p, args[i], out)) return -1;
    }
    return 0;
}

PyObject *arguments_aliases(void)
{
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < sizeof aliases / sizeof aliases[0]; i++) {
        PyObject *name = PyUnicode_FromString(aliases[i][1]);
        if (!name || PyDict_SetItemString(dict, aliases[i][0], name)) Py_CLEAR(dict);
        Py_XDECREF(name);
    }
    return dict;
}

int arguments_read(arguments *c, const signature *s, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    c->signature = s;
    c->out = c->requires_grad = NULL, c->count = c->n_kept = c->room = c->n_blocks = 0, c->named = false, c->used = 0, c->kept = NULL;
    if (positional(c, args, count)) return -1;
    return names ? keywords(c, args + count, names) : 0;
}

void arguments_free(arguments *c)
{
    for (int i = 0; i < c->n_kept; i++) thunder_tensor_release(c->kept[i]);
    if (c->room > INLINE_KEPT) PyMem_Free(c->kept);
    for (int i = 0; i < c->n_blocks; i++) PyMem_Free(c->blocks[i]);
}
