/* What traces depend on of the host: places that the walk of _host.py found. A call compares the places where it was found, a
 * pointer each; after a change the library asks whether the facts of a program still hold. */
#include "host.h"

#include <string.h>

static _Thread_local const thunder_values *given; /* to the function that is traced */
static PyObject *attributes; /* a set of the names of those of modules on which programs depend */
static PyObject *walk; /* _writes.run */

/* ---- calls ---- */

bool host_has_changed(host *h)
{
    if (!h->n_sets) return false;
    bool moved = h->changes != host_changes;
    h->changes = host_changes;
    for (size_t i = 0; i < h->n_loud; i++) {
        place *p = &h->places[h->loud[i]];
        if (place_is_unchanged(p)) continue;
        Py_XSETREF(p->seen, place_content(p));
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

static void describe_change(fact_user *f, const place *p, PyObject *was, PyObject *now)
{
    PyObject *text = PyUnicode_FromFormat(now ? was ? "%U is %.100R, was %.100R" : "%U is %.100R, was not there" : "%U is no longer there", p->label,
                                          now ? now : Py_None, was ? was : Py_None);
    const char *bytes = text ? PyUnicode_AsUTF8(text) : NULL;
    snprintf(f->text, sizeof f->text, "%s", bytes ? bytes : "something that the function reads changed");
    PyErr_Clear();
    Py_XDECREF(text);
}

static const char *find_changed_place(fact_user *f, host *h)
{
    const facts *set = &h->sets[f->set];
    for (size_t i = 0; i < set->count; i++) {
        const place *p = &h->places[set->at[i]];
        PyObject *now = place_content(p);
        const bool holds = place_contents_equal(now, set->was[i]);
        if (!holds) describe_change(f, p, set->was[i], now);
        Py_XDECREF(now);
        if (!holds) return f->text;
    }
    return NULL;
}

static const char *check_fact(void *user)
{
    fact_user *f = user;
    PyGILState_STATE state;
    if (!python_enter(&state)) return "Python has ended";
    PyObject *owner = Py_XNewRef(callback_owner(f->owner)), *kind = NULL, *value = NULL, *trace = NULL;
    PyErr_Fetch(&kind, &value, &trace);
    const char *why = owner ? find_changed_place(f, compiled_host(owner)) : "the function was collected";
    PyErr_Restore(kind, value, trace);
    Py_XDECREF(owner);
    python_leave(state);
    return why;
}

/* Where the index of a place stands, or is to stand, in the table. */
static size_t slot_of(const host *h, const place *p)
{
    const Py_hash_t key = PyUnicode_Check(p->key) ? PyObject_Hash(p->key) : (Py_hash_t)((uintptr_t)p->key >> 4);
    size_t at = (((uintptr_t)p->holder >> 4) * 31 + (size_t)key * 7 + (size_t)p->kind) & (h->n_slots - 1);
    for (; h->slots[at]; at = (at + 1) & (h->n_slots - 1)) {
        const place *q = &h->places[h->slots[at] - 1];
        if (q->kind != p->kind || q->holder != p->holder) continue;
        if (q->key == p->key || (PyUnicode_Check(p->key) && PyUnicode_Check(q->key) && PyUnicode_Compare(p->key, q->key) == 0)) break;
    }
    return at;
}

static int grow_places(host *h)
{
    const size_t room = h->room ? 2 * h->room : 16;
    place *more = PyMem_Realloc(h->places, room * sizeof *more);
    if (more) h->places = more;
    size_t *loud = more ? PyMem_Realloc(h->loud, room * sizeof *loud) : NULL;
    if (loud) h->loud = loud;
    size_t *slots = loud ? PyMem_Calloc(2 * room, sizeof *slots) : NULL;
    if (!slots) return PyErr_NoMemory(), -1;
    PyMem_Free(h->slots);
    h->slots = slots, h->n_slots = 2 * room, h->room = room;
    for (size_t i = 0; i < h->n_places; i++) h->slots[slot_of(h, &h->places[i])] = i + 1;
    return 0;
}

static int find_or_add_place(host *h, PyObject *row, size_t *out)
{
    place p = {.seen = NULL};
    int quiet;
    if (!PyArg_ParseTuple(row, "iOOpU", &p.kind, &p.holder, &p.key, &quiet, &p.label)) return -1;
    p.quiet = quiet != 0;
    if (h->n_places == h->room && grow_places(h)) return -1;
    size_t *slot = &h->slots[slot_of(h, &p)];
    if (*slot) {
        *out = *slot - 1;
        return 0;
    }
    if (p.quiet && p.kind == PLACE_ITEM && PySet_Add(attributes, p.key)) return -1;
    Py_INCREF(p.holder), Py_INCREF(p.key), Py_INCREF(p.label);
    p.seen = p.quiet ? NULL : place_content(&p);
    if (!p.quiet) h->loud[h->n_loud++] = h->n_places;
    *slot = h->n_places + 1;
    *out = h->n_places;
    h->places[h->n_places++] = p;
    return 0;
}

static int read_facts(host *h, PyObject *list, facts *set)
{
    const Py_ssize_t n = PyList_GET_SIZE(list);
    set->at = PyMem_Calloc((size_t)n + 1, sizeof *set->at);
    set->was = PyMem_Calloc((size_t)n + 1, sizeof *set->was);
    if (!set->at || !set->was) return PyErr_NoMemory(), -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        if (find_or_add_place(h, PyList_GET_ITEM(list, i), &set->at[i])) return -1;
        set->was[i] = place_content(&h->places[set->at[i]]);
        set->count++;
    }
    return 0;
}

static void free_facts(facts *set)
{
    for (size_t i = 0; i < set->count; i++) Py_CLEAR(set->was[i]);
    PyMem_Free(set->at);
    PyMem_Free(set->was);
}

/* guard(places): what is traced now depends on what is there. */
static PyObject *guard(PyObject *module, PyObject *list)
{
    host *h = host_root;
    if (!h || !here || !PyList_Check(list) || !PyList_GET_SIZE(list)) Py_RETURN_NONE;
    facts *more = PyMem_Realloc(h->sets, (h->n_sets + 1) * sizeof *more);
    if (!more) return PyErr_NoMemory();
    h->sets = more;
    facts set = {0, NULL, NULL};
    fact_user *user = read_facts(h, list, &set) ? NULL : calloc(1, sizeof *user);
    if (!user) {
        free_facts(&set);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    h->changes = host_changes;
    user->owner = callback_retain(h->owner), user->set = h->n_sets;
    h->sets[h->n_sets++] = set;
    thunder_scope_guard(here, h->function, check_fact, user, fact_destroy);
    Py_RETURN_NONE;
}

/* sharp_edge(text, place): whether the option sharp_edges asks for them, with a text of one; None: it was not given, and nothing was told */
static PyObject *sharp_edge(PyObject *module, PyObject *args)
{
    (void)module;
    const char *text = NULL, *where = NULL;
    if (!PyArg_ParseTuple(args, "|zz", &text, &where)) return NULL;
    if (here && thunder_scope_sharp_edge(here, text, where)) Py_RETURN_TRUE;
    if (!here || !host_root || host_root->quiet || host_root->warned) Py_RETURN_FALSE;
    host_root->warned = text != NULL;
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
    if (h) Py_VISIT(h->writes.kinds);
    return 0;
}

void host_clear(host *h)
{
    if (!h) return;
    const size_t n_places = h->n_places, n_sets = h->n_sets;
    h->n_places = h->n_loud = h->n_sets = 0;
    if (h->n_slots) memset(h->slots, 0, h->n_slots * sizeof *h->slots);
    for (size_t i = 0; i < n_places; i++) {
        Py_CLEAR(h->places[i].holder);
        Py_CLEAR(h->places[i].key);
        Py_CLEAR(h->places[i].label);
        Py_CLEAR(h->places[i].seen);
    }
    for (size_t i = 0; i < n_sets; i++) free_facts(&h->sets[i]);
    Py_CLEAR(h->writes.kinds);
    Py_CLEAR(h->writes.made);
    Py_CLEAR(h->writes.values);
}

void host_free(host *h)
{
    if (!h) return;
    host_clear(h);
    callback_destroy(h->owner);
    thunder_function_release(h->function);
    PyMem_Free(h->places);
    PyMem_Free(h->loud);
    PyMem_Free(h->slots);
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

/* held(object): how many references the places and facts of the compiled function at work are. */
static PyObject *count_references(PyObject *module, PyObject *object)
{
    const host *h = host_root;
    long count = 0;
    for (size_t i = 0; h && i < h->n_places; i++) count += h->places[i].seen == object;
    for (size_t s = 0; h && s < h->n_sets; s++)
        for (size_t i = 0; i < h->sets[s].count; i++) count += h->sets[s].was[i] == object;
    return PyLong_FromLong(count);
}

/* root(): which compiled function's call is at work */
static PyObject *host_root_address(PyObject *module, PyObject *unused)
{
    return PyLong_FromVoidPtr(host_root);
}

/* plain_arguments(): those of the function that begins to be traced, with numbers as numbers, for which alone the trace then is; so are
 * sizes, until plain_sizes(False). */
static PyObject *plain_arguments(PyObject *module, PyObject *unused)
{
    PyObject *named = NULL, *list = values_list(given, false, &named), *args = list ? PyList_AsTuple(list) : NULL;
    plain_sizes = args != NULL;
    Py_XDECREF(list);
    if (args) return Py_BuildValue("NN", args, named ? named : Py_NewRef(Py_None));
    Py_XDECREF(named);
    return NULL;
}

static PyObject *set_plain_sizes(PyObject *module, PyObject *value)
{
    plain_sizes = value == Py_True;
    Py_RETURN_NONE;
}

/* touch(name): this attribute of a module changed */
static PyObject *touch(PyObject *module, PyObject *name)
{
    const int known = PySet_Contains(attributes, name);
    if (known < 0) return NULL;
    host_changes += known != 0;
    Py_RETURN_NONE;
}

/* set_walk(run): _writes.run, which finds what a function reads as it is traced */
static PyObject *set_walk(PyObject *module, PyObject *run)
{
    Py_XSETREF(walk, Py_NewRef(run));
    Py_RETURN_NONE;
}

int open_host(PyObject *module)
{
    static PyMethodDef functions[] = {{"guard", guard, METH_O, NULL},
                                      {"sharp_edge", sharp_edge, METH_VARARGS, NULL},
                                      {"touch", touch, METH_O, NULL},
                                      {"set_walk", set_walk, METH_O, NULL},
                                      {"root", host_root_address, METH_NOARGS, NULL},
                                      {"plain_arguments", plain_arguments, METH_NOARGS, NULL},
                                      {"plain_sizes", set_plain_sizes, METH_O, NULL},
                                      {"held", count_references, METH_O, NULL},
                                      {NULL, NULL, 0, NULL}};
    attributes = PySet_New(NULL);
    return attributes ? PyModule_AddFunctions(module, functions) : -1;
}
