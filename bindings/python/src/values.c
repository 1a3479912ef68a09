/* Nested lists, tuples and dicts as the library's trees of leaves, and back. Other types go through two functions of the
 * Python part, which know how to take them apart and to put them together. */
#include "layer.h"

#include <string.h>

static PyTypeObject *enum_meta; /* enum.EnumMeta */
static PyObject *take_apart;   /* object -> (tag, dict of children) */
static PyObject *put_together; /* (tag, dict of children) -> object */

static const char tuple_tag[] = "tuple", named_tag[] = "named";
static const char order_tag[] = "order "; /* and the places of a dict's keys among them in byte order, as structures have them */
thunder_values *values_new(void)
{
    thunder_values *made = NULL;
    return check_status(thunder_values_create(context, &made)) ? NULL : made;
}

/* ---- from Python ---- */

static int add(thunder_values *values, PyObject *object);

static int add_items(thunder_values *values, PyObject *list, const char *tag)
{
    thunder_values_open(values, 0, tag);
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); i++)
        if (add(values, PySequence_Fast_GET_ITEM(list, i))) return -1;
    thunder_values_close(values);
    return 0;
}

static int add_key(thunder_values *values, PyObject *key)
{
    Py_ssize_t bytes;
    const char *text = PyUnicode_Check(key) ? PyUnicode_AsUTF8AndSize(key, &bytes) : NULL;
    if (text && strlen(text) == (size_t)bytes) {
        thunder_values_key(values, text);
        return 0;
    }
    if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "the keys of a dict of tensors must be strings, not %R", key);
    return -1;
}

/* Whether the keys come in the order in which structures have them. */
static bool is_sorted(PyObject *dict)
{
    PyObject *key, *child, *before = NULL;
    Py_ssize_t at = 0;
    for (; PyDict_Next(dict, &at, &key, &child); before = key)
        if (!PyUnicode_Check(key) || (before && PyUnicode_Compare(before, key) > 0)) return !PyUnicode_Check(key); /* refused later */
    return true;
}

/* "order 2 0 1": a dict in another order is another structure, since functions go through it. */
static PyObject *format_key_order(PyObject *dict)
{
    PyObject *keys = PyDict_Keys(dict), *sorted = keys ? PySequence_List(keys) : NULL, *places = NULL;
    PyObject *text = sorted && PyList_Sort(sorted) == 0 ? PyUnicode_FromString(order_tag) : NULL;
    if (text && (places = PyDict_New()))
        for (Py_ssize_t i = 0; text && i < PyList_GET_SIZE(sorted); i++) {
            PyObject *place = PyUnicode_FromFormat("%zd ", i);
            if (!place || PyDict_SetItem(places, PyList_GET_ITEM(sorted, i), place)) Py_CLEAR(text);
            Py_XDECREF(place);
        }
    for (Py_ssize_t i = 0; text && places && i < PyList_GET_SIZE(keys); i++) PyUnicode_Append(&text, PyDict_GetItem(places, PyList_GET_ITEM(keys, i)));
    Py_XDECREF(keys);
    Py_XDECREF(sorted);
    Py_XDECREF(places);
    return text;
}

static int add_dict(thunder_values *values, PyObject *dict, const char *tag)
{
    PyObject *key, *child;
    Py_ssize_t at = 0;
    PyObject *order = tag || is_sorted(dict) ? NULL : format_key_order(dict);
    if (PyErr_Occurred()) return -1;
    thunder_values_open(values, 1, order ? PyUnicode_AsUTF8(order) : tag);
    Py_XDECREF(order);
    while (PyDict_Next(dict, &at, &key, &child))
        if (add_key(values, key) || add(values, child)) return -1;
    thunder_values_close(values);
    return 0;
}

static int add_string(thunder_values *values, PyObject *object)
{
    Py_ssize_t bytes;
    thunder_any leaf = {.kind = THUNDER_STRING, .u.s = PyUnicode_AsUTF8AndSize(object, &bytes)};
    if (!leaf.u.s) return -1;
    leaf.count = (uint32_t)bytes;
    thunder_values_push(values, &leaf);
    return 0;
}

static int add_registered_container(thunder_values *values, PyObject *object)
{
    PyObject *parts = PyObject_CallOneArg(take_apart, object);
    PyObject *tag, *children;
    const int failed = !parts || !PyArg_ParseTuple(parts, "UO!", &tag, &PyDict_Type, &children) ||
                       add_dict(values, children, PyUnicode_AsUTF8(tag));
    Py_XDECREF(parts);
    return failed ? -1 : 0;
}

static int add_number(thunder_values *values, PyObject *object)
{
    thunder_any leaf = {.kind = THUNDER_FLOAT};
    int overflow = 0;
    if (PyFloat_Check(object))
        leaf.u.f = PyFloat_AS_DOUBLE(object);
    else
        leaf.kind = PyBool_Check(object) ? THUNDER_BOOLEAN : THUNDER_INT, leaf.u.i = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow) return add_registered_container(values, object); /* a constant: live integers are those of 64 bits with a sign */
    thunder_values_push(values, &leaf);
    return 0;
}

/* A result, or an argument of a function inside this one: the number that was seen. */
static int add_size(thunder_values *values, PyObject *object)
{
    PyObject *number = PyNumber_Long(object);
    const int failed = !number || add_number(values, number);
    Py_XDECREF(number);
    return failed ? -1 : 0;
}

static int add_array(thunder_values *values, PyObject *object)
{
    thunder_tensor *made = tensor_of_call(object);
    if (!made) return -1;
    thunder_values_push_tensor(values, made);
    thunder_tensor_release(made);
    return 0;
}

static int add_container(thunder_values *values, PyObject *object)
{
    if (PyTuple_CheckExact(object) || shape_test(object)) return add_items(values, object, tuple_tag);
    if (PyList_Check(object)) return add_items(values, object, NULL);
    if (PyDict_Check(object)) return add_dict(values, object, NULL);
    PyObject *number = scalar_number(object);
    if (number) {
        const int failed = add_number(values, number);
        Py_DECREF(number);
        return failed;
    }
    if (PyErr_Occurred()) return -1;
    if (foreign_test(object)) return add_array(values, object);
    return add_registered_container(values, object);
}

/* Members of an Enum are constants of their class, also those that are numbers or strings. */
static bool is_enum_member(PyObject *object) { return PyType_IsSubtype(Py_TYPE(Py_TYPE(object)), enum_meta); }

/* A number of a class that was written in Python, which the function may ask for. */
static bool is_number_of_class(PyObject *object)
{
    return (PyFloat_Check(object) || PyLong_Check(object)) && PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE);
}

static int add(thunder_values *values, PyObject *object)
{
    if (tensor_test(object)) {
        thunder_values_push_tensor(values, tensor_handle(object));
        return 0;
    }
    if (object == Py_None) {
        thunder_values_push_tensor(values, NULL);
        return 0;
    }
    if (PyFloat_CheckExact(object) || PyLong_CheckExact(object)) return add_number(values, object);
    if (is_enum_member(object) || is_number_of_class(object)) return add_registered_container(values, object);
    if (PyFloat_Check(object) || PyLong_Check(object)) return add_number(values, object);
    if (size_test(object)) return add_size(values, object);
    if (PyUnicode_Check(object)) return add_string(values, object);
    const Constant *constant = constant_test(object);
    if (constant) {
        const thunder_any leaf = {.kind = constant->kind, .u.i = constant->value};
        thunder_values_push(values, &leaf);
        return 0;
    }
    if (Py_EnterRecursiveCall(" in the arguments or results of a function")) return -1;
    const int failed = add_container(values, object);
    Py_LeaveRecursiveCall();
    return failed;
}

int values_add(thunder_values *values, PyObject *object) { return add(values, object); }

int values_add_each(thunder_values *values, PyObject *results)
{
    if (!PyTuple_Check(results)) return add(values, results);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(results); i++)
        if (add(values, PyTuple_GET_ITEM(results, i))) return -1;
    return 0;
}

/* "named order 1 0", where the function sees the order of the names and it is not the usual one; NULL: it is, or an exception. */
static PyObject *order_of_names(PyObject *names)
{
    PyObject *dict = PyDict_New();
    for (Py_ssize_t i = 0; dict && i < PyTuple_GET_SIZE(names); i++)
        if (PyDict_SetItem(dict, PyTuple_GET_ITEM(names, i), Py_None)) Py_CLEAR(dict);
    PyObject *order = dict && !is_sorted(dict) ? format_key_order(dict) : NULL, *tag = order ? PyUnicode_FromFormat("%s %U", named_tag, order) : NULL;
    Py_XDECREF(order);
    Py_XDECREF(dict);
    return tag;
}

int values_add_call(thunder_values *values, PyObject *const *args, Py_ssize_t count, PyObject *names, bool in_order)
{
    for (Py_ssize_t i = 0; i < count; i++)
        if (add(values, args[i])) return error_prefix("argument %zd", i), -1;
    if (!names || !PyTuple_GET_SIZE(names)) return 0;
    PyObject *tag = in_order ? order_of_names(names) : NULL;
    if (PyErr_Occurred()) return -1;
    thunder_values_open(values, 1, tag ? PyUnicode_AsUTF8(tag) : named_tag);
    Py_XDECREF(tag);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++)
        if (add_key(values, PyTuple_GET_ITEM(names, i)) || add(values, args[count + i]))
            return error_prefix("argument '%U'", PyTuple_GET_ITEM(names, i)), -1;
    thunder_values_close(values);
    return 0;
}

/* ---- to Python ---- */

typedef struct reader {
    const thunder_values *values;
    const char *at; /* in the structure: *, tag[...] and tag{"key":...}, with commas between */
    size_t leaf;
    bool traced;
} reader;

PyObject *values_leaf(const thunder_any *any)
{
    PyObject *list;
    switch (any->kind) {
        case THUNDER_TENSOR: return tensor_of(any->u.t);
        case THUNDER_INT: return PyLong_FromLongLong(any->u.i);
        case THUNDER_FLOAT: return PyFloat_FromDouble(any->u.f);
        case THUNDER_BOOLEAN: return PyBool_FromLong(any->u.i != 0);
        case THUNDER_STRING: return PyUnicode_DecodeUTF8(any->u.s, any->count, "replace");
        case THUNDER_DTYPE:
        case THUNDER_DEVICE: return constant_of(any->kind, (int32_t)any->u.i);
        case THUNDER_DIMS:
        case THUNDER_FLOATS:
            list = PyList_New(any->count);
            for (uint32_t i = 0; list && i < any->count; i++)
                PyList_SET_ITEM(list, i, any->kind == THUNDER_DIMS ? PyLong_FromLongLong(any->u.d[i]) : PyFloat_FromDouble(any->u.fs[i]));
            return list;
        default: Py_RETURN_NONE;
    }
}

/* In a traced function floats stay live, as tensors, and integers that stand for any are SymInts; all other numbers are read, and thereby
 * guarded. */
static PyObject *read_leaf(reader *r)
{
    const size_t leaf = r->leaf++;
    thunder_any any;
    r->at++;
    if (r->traced && thunder_values_kind(r->values, leaf) == THUNDER_FLOAT) {
        live_numbers = true;
        PyObject *number = tensor_of(thunder_values_tensor(r->values, leaf));
        if (number) ((Tensor *)number)->live = true;
        return number;
    }
    if (r->traced && thunder_values_kind(r->values, leaf) == THUNDER_INT) return size_object(thunder_values_dim(r->values, leaf));
    return check_status(thunder_values_get(r->values, leaf, &any)) ? NULL : values_leaf(&any);
}

static PyObject *read_one(reader *r, bool *is_named);

static PyObject *read_list(reader *r, char end)
{
    PyObject *list = PyList_New(0);
    while (list && *r->at && *r->at != end) {
        PyObject *child = read_one(r, NULL);
        if (!child || PyList_Append(list, child)) Py_CLEAR(list);
        Py_XDECREF(child);
        if (*r->at == ',') r->at++;
    }
    if (*r->at) r->at++;
    return list;
}

/* A key between quotes, with a backslash before what is meant as itself. */
static PyObject *read_key(reader *r)
{
    const char *end = ++r->at;
    while (*end && *end != '"') end += *end == '\\' && end[1] ? 2 : 1;
    char *text = PyMem_Malloc((size_t)(end - r->at) + 1);
    if (!text) return PyErr_NoMemory();
    Py_ssize_t bytes = 0;
    for (; r->at < end; r->at++) {
        if (*r->at == '\\') r->at++;
        text[bytes++] = *r->at;
    }
    if (*r->at) r->at++; /* the quote */
    if (*r->at) r->at++; /* the colon */
    PyObject *key = PyUnicode_DecodeUTF8(text, bytes, "replace");
    PyMem_Free(text);
    return key;
}

static PyObject *read_map(reader *r)
{
    PyObject *map = PyDict_New();
    while (map && *r->at && *r->at != '}') {
        PyObject *key = read_key(r), *child = key ? read_one(r, NULL) : NULL;
        if (!child || PyDict_SetItem(map, key, child)) Py_CLEAR(map);
        Py_XDECREF(child);
        Py_XDECREF(key);
        if (*r->at == ',') r->at++;
    }
    if (*r->at) r->at++;
    return map;
}

/* The map with its keys in the order that the tag says; takes it over. */
static PyObject *restore_order(PyObject *map, const char *tag)
{
    PyObject *keys = PyDict_Keys(map), *made = keys ? PyDict_New() : NULL;
    for (char *end; made && *(tag += strspn(tag, " ")) >= '0' && *tag <= '9'; tag = end) {
        const long place = strtol(tag, &end, 10);
        PyObject *key = place < PyList_GET_SIZE(keys) ? PyList_GET_ITEM(keys, place) : NULL;
        if (!key || PyDict_SetItem(made, key, PyDict_GetItem(map, key))) Py_CLEAR(made);
    }
    Py_XDECREF(keys);
    Py_DECREF(map);
    if (!made && !PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "a structure names more keys than there are");
    return made;
}

static bool is_tag(const char *tag, size_t bytes, const char *wanted) { return strlen(wanted) == bytes && !memcmp(tag, wanted, bytes); }
static PyObject *read_one(reader *r, bool *is_named)
{
    if (*r->at == '*') return read_leaf(r);
    const char *tag = r->at;
    const size_t bytes = strcspn(tag, "[{");
    if (!tag[bytes]) return PyErr_Format(PyExc_SystemError, "a structure ends too soon: %s", tag);
    r->at += bytes + 1;
    PyObject *children = tag[bytes] == '[' ? read_list(r, ']') : read_map(r);
    if (!children || bytes == 0) return children;
    const bool names = is_named && bytes >= sizeof named_tag - 1 && !memcmp(tag, named_tag, sizeof named_tag - 1);
    const char *order = names && bytes > sizeof named_tag ? tag + sizeof named_tag : tag;
    const bool in_order = bytes >= sizeof order_tag - 1 && !memcmp(order, order_tag, sizeof order_tag - 1);
    if (names) *is_named = true;
    if (in_order) return restore_order(children, order + sizeof order_tag - 1);
    if (names) return children;
    PyObject *whole = is_tag(tag, bytes, tuple_tag)
                          ? PySequence_Tuple(children)
                          : PyObject_CallFunction(put_together, "s#O", tag, (Py_ssize_t)bytes, children);
    Py_DECREF(children);
    return whole;
}

PyObject *values_list(const thunder_values *values, bool traced, PyObject **named)
{
    reader r = {values, thunder_values_structure(values), 0, traced};
    PyObject *list = PyList_New(0);
    if (named) *named = NULL;
    while (list && *r.at) {
        bool is_named = false;
        PyObject *one = read_one(&r, named ? &is_named : NULL);
        if (!one || (!is_named && PyList_Append(list, one))) Py_CLEAR(list);
        if (is_named && one)
            *named = one;
        else
            Py_XDECREF(one);
        if (*r.at == ',') r.at++;
    }
    if (!list && named) Py_CLEAR(*named);
    return list;
}

PyObject *values_result(const thunder_values *values, bool traced)
{
    const char *structure = thunder_values_structure(values);
    if (structure[0] == '*' && !structure[1]) {
        reader r = {values, structure, 0, traced};
        return read_leaf(&r);
    }
    PyObject *list = values_list(values, traced, NULL);
    if (!list) return NULL;
    const Py_ssize_t count = PyList_GET_SIZE(list);
    PyObject *result = count > 1 ? PyList_AsTuple(list) : Py_NewRef(count ? PyList_GET_ITEM(list, 0) : Py_None);
    Py_DECREF(list);
    return result;
}

/* set_tree_functions(take_apart, put_together) */
static PyObject *set_tree_functions(PyObject *module, PyObject *args)
{
    PyObject *apart, *together;
    if (!PyArg_ParseTuple(args, "OO:set_tree_functions", &apart, &together)) return NULL;
    Py_XSETREF(take_apart, Py_NewRef(apart));
    Py_XSETREF(put_together, Py_NewRef(together));
    Py_RETURN_NONE;
}

int open_values(PyObject *module)
{
    static PyMethodDef functions[] = {{"set_tree_functions", set_tree_functions, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
    PyObject *module_of_enums = PyImport_ImportModule("enum");
    enum_meta = module_of_enums ? (PyTypeObject *)PyObject_GetAttrString(module_of_enums, "EnumMeta") : NULL;
    Py_XDECREF(module_of_enums);
    return enum_meta ? PyModule_AddFunctions(module, functions) : -1;
}
