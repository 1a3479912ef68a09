/* What traces depend on of the host: places that the walk of _host.py found. A call compares the places where it was found, a
 * pointer each; after a change the library asks whether the facts of a program still hold. */
#include "host.h"

#include <stdatomic.h>
#include <string.h>

#include "module.h"

enum { CELL, ITEM, LIST, DICT, SET, CHILDREN, SLOT };  /* as _host.py has them */
enum { MOST = 1000 }; /* of a container that holds more, the length alone is compared */

uint64_t host_changes;
_Thread_local host *host_root;
static _Thread_local const thunder_values *given; /* to the function that is traced */
static PyObject *attributes; /* a set of the names of those of modules on which programs depend */
static PyObject *walk, *perform; /* _writes.run, _writes.perform */

typedef struct place {
    int kind;
    bool quiet; /* of a module, whose changes are counted */
    PyObject *holder, *key, *label;
    PyObject *seen; /* NULL: there was nothing */
} place;

/* Of one program: the places and what was there when it was traced. */
typedef struct facts {
    size_t count;
    size_t *at;
    PyObject **was;
} facts;

struct host {
    place *places;
    facts *sets;
    size_t *loud; /* the places that a call compares, among room for all */
    size_t n_places, n_loud, room, n_sets;
    uint64_t changes;
    callback *owner;
    thunder_function *function;
    PyObject *writes;                /* by number of a kind of call, what it writes: lists of _writes.Write */
    PyObject *made_writes, *values;  /* of the trace that ends now */
};

/* ---- what is there ---- */

static PyObject *pairs(PyObject *dict, bool children)
{
    PyObject *list = PyList_New(0), *key, *value;
    Py_ssize_t at = 0;
    while (list && PyDict_Next(dict, &at, &key, &value))
        if ((!children || PyObject_TypeCheck(value, module_type)) && (PyList_Append(list, key) || PyList_Append(list, value))) Py_CLEAR(list);
    PyObject *tuple = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return tuple;
}

/* A new reference, or NULL: nothing is there. Errors of looking are none. */
static PyObject *content(const place *p)
{
    PyObject *found = NULL;
    switch (p->kind) {
        case CELL: found = PyCell_Get(p->holder); break;
        case ITEM: found = Py_XNewRef(PyDict_GetItemWithError(p->holder, p->key)); break;
        case LIST: found = PyList_GET_SIZE(p->holder) > MOST ? PyLong_FromSsize_t(PyList_GET_SIZE(p->holder)) : PyList_AsTuple(p->holder); break;
        case DICT: found = PyDict_Size(p->holder) > MOST ? PyLong_FromSsize_t(PyDict_Size(p->holder)) : pairs(p->holder, false); break;
        case SET: found = PyFrozenSet_New(p->holder); break;
        case SLOT: found = PyObject_GetAttr(p->holder, p->key); break;
        default: found = ((Module *)p->holder)->dict ? pairs(((Module *)p->holder)->dict, true) : PyTuple_New(0);
    }
    PyErr_Clear();
    return found;
}

static bool same_items(PyObject *holder, PyObject *seen)
{
    const Py_ssize_t n = PyList_GET_SIZE(holder);
    if (!PyTuple_CheckExact(seen)) return n > MOST && PyLong_AsSsize_t(seen) == n;
    if (PyTuple_GET_SIZE(seen) != n) return false;
    return !n || !memcmp(((PyListObject *)holder)->ob_item, ((PyTupleObject *)seen)->ob_item, (size_t)n * sizeof(PyObject *));
}

static bool same_pairs(PyObject *dict, PyObject *seen)
{
    PyObject *key, *value;
    Py_ssize_t at = 0, i = 0;
    if (!PyTuple_CheckExact(seen)) return PyDict_Size(dict) > MOST && PyLong_AsSsize_t(seen) == PyDict_Size(dict);
    if (2 * PyDict_Size(dict) != PyTuple_GET_SIZE(seen)) return false;
    for (; PyDict_Next(dict, &at, &key, &value); i += 2)
        if (PyTuple_GET_ITEM(seen, i) != key || PyTuple_GET_ITEM(seen, i + 1) != value) return false;
    return true;
}

/* Whether the very same objects are there as at the last look. */
static bool stays(const place *p)
{
    switch (p->kind) {
        case CELL: return PyCell_GET(p->holder) == p->seen;
        case ITEM: {
            PyObject *now = PyDict_GetItemWithError(p->holder, p->key);
            if (!now) PyErr_Clear();
            return now == p->seen;
        }
        case LIST: return p->seen && same_items(p->holder, p->seen);
        case DICT: return p->seen && same_pairs(p->holder, p->seen);
        case SET: return p->seen && PySet_GET_SIZE(p->holder) == PySet_GET_SIZE(p->seen) && PyObject_RichCompareBool(p->holder, p->seen, Py_EQ) == 1;
        case SLOT: {
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

/* Equal numbers and texts of one type are the same; tuples of them too; of all else the object counts. */
static bool same(PyObject *a, PyObject *b)
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
            if (!same(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i))) return false;
        return true;
    }
    const int equal = is_plain(a) ? PyObject_RichCompareBool(a, b, Py_EQ) : 0;
    if (equal < 0) PyErr_Clear();
    return equal == 1;
}

/* ---- calls ---- */

bool host_moved(host *h)
{
    if (!h->n_sets) return false;
    bool moved = h->changes != host_changes;
    h->changes = host_changes;
    for (size_t i = 0; i < h->n_loud; i++) {
        place *p = &h->places[h->loud[i]];
        if (stays(p)) continue;
        Py_XSETREF(p->seen, content(p));
        moved = true;
    }
    return moved;
}

/* ---- facts ---- */

typedef struct fact_user {
    callback *owner;
    size_t set;
    char text[400];
} fact_user;

static void fact_destroy(void *user)
{
    callback_destroy(((fact_user *)user)->owner);
    free(user);
}

static void tell(fact_user *f, const place *p, PyObject *was, PyObject *now)
{
    PyObject *text = PyUnicode_FromFormat(now ? was ? "%U is %.100R, was %.100R" : "%U is %.100R, was not there" : "%U is no longer there", p->label,
                                          now ? now : Py_None, was ? was : Py_None);
    const char *bytes = text ? PyUnicode_AsUTF8(text) : NULL;
    snprintf(f->text, sizeof f->text, "%s", bytes ? bytes : "something that the function reads changed");
    PyErr_Clear();
    Py_XDECREF(text);
}

static const char *check(fact_user *f, host *h)
{
    const facts *set = &h->sets[f->set];
    for (size_t i = 0; i < set->count; i++) {
        const place *p = &h->places[set->at[i]];
        PyObject *now = content(p);
        const bool holds = same(now, set->was[i]);
        if (!holds) tell(f, p, set->was[i], now);
        Py_XDECREF(now);
        if (!holds) return f->text;
    }
    return NULL;
}

static const char *fact(void *user)
{
    fact_user *f = user;
    PyGILState_STATE state;
    if (!python_enter(&state)) return "Python has ended";
    PyObject *owner = Py_XNewRef(callback_owner(f->owner)), *kind = NULL, *value = NULL, *trace = NULL;
    PyErr_Fetch(&kind, &value, &trace);
    const char *why = owner ? check(f, compiled_host(owner)) : "the function was collected";
    PyErr_Restore(kind, value, trace);
    Py_XDECREF(owner);
    python_leave(state);
    return why;
}

static int find(host *h, PyObject *row, size_t *out)
{
    place p = {.seen = NULL};
    int quiet;
    if (!PyArg_ParseTuple(row, "iOOpU", &p.kind, &p.holder, &p.key, &quiet, &p.label)) return -1;
    p.quiet = quiet != 0;
    for (size_t i = 0; i < h->n_places; i++) {
        const place *q = &h->places[i];
        if (q->kind != p.kind || q->holder != p.holder || (q->key != p.key && !(PyUnicode_Check(p.key) && PyUnicode_Check(q->key) && PyUnicode_Compare(p.key, q->key) == 0))) continue;
        *out = i;
        return 0;
    }
    if (h->n_places == h->room) {
        const size_t room = h->room ? 2 * h->room : 16;
        place *more = PyMem_Realloc(h->places, room * sizeof *more);
        if (more) h->places = more;
        size_t *loud = more ? PyMem_Realloc(h->loud, room * sizeof *loud) : NULL;
        if (!loud) return PyErr_NoMemory(), -1;
        h->loud = loud, h->room = room;
    }
    if (p.quiet && p.kind == ITEM && PySet_Add(attributes, p.key)) return -1;
    Py_INCREF(p.holder), Py_INCREF(p.key), Py_INCREF(p.label);
    p.seen = p.quiet ? NULL : content(&p);
    if (!p.quiet) h->loud[h->n_loud++] = h->n_places;
    *out = h->n_places;
    h->places[h->n_places++] = p;
    return 0;
}

static int take(host *h, PyObject *list, facts *set)
{
    const Py_ssize_t n = PyList_GET_SIZE(list);
    set->at = PyMem_Calloc((size_t)n + 1, sizeof *set->at);
    set->was = PyMem_Calloc((size_t)n + 1, sizeof *set->was);
    if (!set->at || !set->was) return PyErr_NoMemory(), -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        if (find(h, PyList_GET_ITEM(list, i), &set->at[i])) return -1;
        set->was[i] = content(&h->places[set->at[i]]);
        set->count++;
    }
    return 0;
}

static void drop(facts *set)
{
    for (size_t i = 0; i < set->count; i++) Py_CLEAR(set->was[i]);
    PyMem_Free(set->at);
    PyMem_Free(set->was);
}

/* guard(places): what is traced now depends on what is there. */
static PyObject *guard(PyObject *module, PyObject *list)
{
    (void)module;
    host *h = host_root;
    if (!h || !here || !PyList_Check(list) || !PyList_GET_SIZE(list)) Py_RETURN_NONE;
    facts *more = PyMem_Realloc(h->sets, (h->n_sets + 1) * sizeof *more);
    if (!more) return PyErr_NoMemory();
    h->sets = more;
    facts set = {0, NULL, NULL};
    fact_user *user = take(h, list, &set) ? NULL : calloc(1, sizeof *user);
    if (!user) {
        drop(&set);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    h->changes = host_changes;
    user->owner = callback_retain(h->owner), user->set = h->n_sets;
    h->sets[h->n_sets++] = set;
    thunder_scope_guard(here, h->function, fact, user, fact_destroy);
    Py_RETURN_NONE;
}

/* ---- its life ---- */

host *host_new(callback *owner, thunder_function *function)
{
    host *made = PyMem_Calloc(1, sizeof *made);
    if (!made) return PyErr_NoMemory(), NULL;
    made->owner = callback_retain(owner);
    made->function = thunder_function_retain(function);
    return made;
}

int host_traverse(host *h, visitproc visit, void *arg)
{
    for (size_t i = 0; h && i < h->n_places; i++) {
        Py_VISIT(h->places[i].holder);
        Py_VISIT(h->places[i].key);
        Py_VISIT(h->places[i].seen);
    }
    for (size_t s = 0; h && s < h->n_sets; s++)
        for (size_t i = 0; i < h->sets[s].count; i++) Py_VISIT(h->sets[s].was[i]);
    if (h) Py_VISIT(h->writes);
    return 0;
}

void host_clear(host *h)
{
    if (!h) return;
    const size_t n_places = h->n_places, n_sets = h->n_sets;
    h->n_places = h->n_loud = h->n_sets = 0;
    for (size_t i = 0; i < n_places; i++) {
        Py_CLEAR(h->places[i].holder);
        Py_CLEAR(h->places[i].key);
        Py_CLEAR(h->places[i].label);
        Py_CLEAR(h->places[i].seen);
    }
    for (size_t i = 0; i < n_sets; i++) drop(&h->sets[i]);
    Py_CLEAR(h->writes);
    Py_CLEAR(h->made_writes);
    Py_CLEAR(h->values);
}

void host_free(host *h)
{
    if (!h) return;
    host_clear(h);
    callback_destroy(h->owner);
    thunder_function_release(h->function);
    PyMem_Free(h->places);
    PyMem_Free(h->loud);
    PyMem_Free(h->sets);
    PyMem_Free(h);
}

PyObject *host_run(PyObject *function, const thunder_values *in, PyObject *args, PyObject *named)
{
    if (!walk || !host_root) return PyObject_Call(function, args, named);
    const thunder_values *outer = given;
    given = in;
    PyObject *result = PyObject_CallFunctionObjArgs(walk, function, args, named ? named : Py_None, NULL);
    given = outer;
    return result;
}

/* ---- what a function writes ---- */

/* note_writes(writes, values): of the function that is traced now. */
static PyObject *note_writes(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *writes, *values;
    if (!PyArg_ParseTuple(args, "O!O!:note_writes", &PyList_Type, &writes, &PyList_Type, &values)) return NULL;
    if (!host_root) Py_RETURN_NONE;
    Py_XSETREF(host_root->made_writes, Py_NewRef(writes));
    Py_XSETREF(host_root->values, Py_NewRef(values));
    Py_RETURN_NONE;
}

int host_add_writes(thunder_values *out)
{
    host *h = host_root;
    if (!h || !h->made_writes) return 0;
    if (!h->writes && !(h->writes = PyList_New(0))) return -1;
    Py_ssize_t number = PySequence_Index(h->writes, h->made_writes);
    if (number < 0) {
        PyErr_Clear();
        number = PyList_GET_SIZE(h->writes);
        if (PyList_Append(h->writes, h->made_writes)) return -1;
    }
    thunder_values_open(out, 0, "writes");
    const thunder_any leaf = {.kind = THUNDER_INT, .u.i = number};
    thunder_values_push(out, &leaf);
    int failed = 0;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(h->values) && !failed; i++) failed = values_add(out, PyList_GET_ITEM(h->values, i));
    thunder_values_close(out);
    Py_CLEAR(h->made_writes);
    Py_CLEAR(h->values);
    return failed;
}

bool host_writes(const host *h) { return h && h->writes; }

PyObject *host_write(host *h, PyObject *result, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    if (!result || !h || !h->writes) return result;
    PyObject *given = PyTuple_New(count), *named = PyDict_New();
    for (Py_ssize_t i = 0; given && i < count; i++) PyTuple_SET_ITEM(given, i, Py_NewRef(args[i]));
    int failed = !given || !named;
    for (Py_ssize_t i = 0; !failed && names && i < PyTuple_GET_SIZE(names); i++)
        failed = PyDict_SetItem(named, PyTuple_GET_ITEM(names, i), args[count + i]);
    PyObject *done = failed ? NULL : PyObject_CallFunctionObjArgs(perform, h->writes, result, given, named, NULL);
    Py_XDECREF(given);
    Py_XDECREF(named);
    Py_DECREF(result);
    return done;
}

/* held(object): how many references the places and facts of the compiled function at work are. */
static PyObject *held(PyObject *module, PyObject *object)
{
    (void)module;
    const host *h = host_root;
    long count = 0;
    for (size_t i = 0; h && i < h->n_places; i++) count += h->places[i].seen == object;
    for (size_t s = 0; h && s < h->n_sets; s++)
        for (size_t i = 0; i < h->sets[s].count; i++) count += h->sets[s].was[i] == object;
    return PyLong_FromLong(count);
}

/* root(): which compiled function's call is at work */
static PyObject *root(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyLong_FromVoidPtr(host_root);
}

/* plain_arguments(): those of the function that begins to be traced, with numbers as numbers, for which alone the trace then is; so are
 * sizes, until plain_sizes(False). */
static PyObject *plain_arguments(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *named = NULL, *list = values_list(given, false, &named), *args = list ? PyList_AsTuple(list) : NULL;
    plain_sizes = args != NULL;
    Py_XDECREF(list);
    if (args) return Py_BuildValue("NN", args, named ? named : Py_NewRef(Py_None));
    Py_XDECREF(named);
    return NULL;
}

static PyObject *set_plain_sizes(PyObject *module, PyObject *value)
{
    (void)module;
    plain_sizes = value == Py_True;
    Py_RETURN_NONE;
}

/* touch(name): this attribute of a module changed */
static PyObject *touch(PyObject *module, PyObject *name)
{
    (void)module;
    const int known = PySet_Contains(attributes, name);
    if (known < 0) return NULL;
    host_changes += known != 0;
    Py_RETURN_NONE;
}

/* set_host_functions(run, perform) */
static PyObject *set_host_functions(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *run, *write;
    if (!PyArg_ParseTuple(args, "OO:set_host_functions", &run, &write)) return NULL;
    Py_XSETREF(walk, Py_NewRef(run));
    Py_XSETREF(perform, Py_NewRef(write));
    Py_RETURN_NONE;
}

int open_host(PyObject *module)
{
    static PyMethodDef functions[] = {{"guard", guard, METH_O, NULL},
                                      {"touch", touch, METH_O, NULL},
                                      {"set_host_functions", set_host_functions, METH_VARARGS, NULL},
                                      {"root", root, METH_NOARGS, NULL},
                                      {"plain_arguments", plain_arguments, METH_NOARGS, NULL},
                                      {"plain_sizes", set_plain_sizes, METH_O, NULL},
                                      {"note_writes", note_writes, METH_VARARGS, NULL},
                                      {"held", held, METH_O, NULL},
                                      {NULL, NULL, 0, NULL}};
    attributes = PySet_New(NULL);
    return attributes ? PyModule_AddFunctions(module, functions) : -1;
}
