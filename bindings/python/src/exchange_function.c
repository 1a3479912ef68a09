/* A program as a function of its arguments: a call in C, without a list, that gives arguments back as they are. */
#include "described.h"
#include "exchange.h"

#include <stdlib.h>

typedef struct Program {
    PyObject_HEAD
    Exchange *exchange;
    PyObject *compiled;
    int *taken, *given; /* NULL: all arguments, all results */
    int takes, gives;
    int *fixed; /* arguments that are constants of the program as long as they are the objects of `constants` */
    int fixes;
    PyObject *constants, *for_others; /* a tuple; for_others(...arguments): (compiled, constants) of other objects */
    spare_values spare;
} Program;

enum { MAX_TAKEN = 256 };

/* Which of the arguments the program has, in its order; NULL and an exception. */
static PyObject *const *pick_arguments(const Program *self, PyObject *const *args, Py_ssize_t count, PyObject **room)
{
    if (!self->taken) return args;
    for (int i = 0; i < self->takes; i++) {
        if (self->taken[i] >= count)
            return PyErr_Format(PyExc_TypeError, "program: %zd arguments were given, argument %d is asked for", count, self->taken[i]), NULL;
        room[i] = args[self->taken[i]];
    }
    return room;
}

/* The results of the whole function, for those of the program. */
static PyObject *complete_results(const Program *self, PyObject *made, PyObject *const *args, Py_ssize_t count)
{
    PyObject *list = made ? PyList_New(self->gives) : NULL;
    for (int i = 0; list && i < self->gives; i++) {
        const int at = self->given[i];
        if (at < 0 ? ~at >= count : at >= PyList_GET_SIZE(made)) {
            Py_CLEAR(list);
            PyErr_Format(PyExc_TypeError, "program: result %d is number %d of %zd", i, at, at < 0 ? count : PyList_GET_SIZE(made));
            break;
        }
        PyList_SET_ITEM(list, i, Py_NewRef(at < 0 ? args[~at] : PyList_GET_ITEM(made, at)));
    }
    Py_XDECREF(made);
    return list;
}

static int has_its_constants(const Program *self, PyObject *const *args, Py_ssize_t count)
{
    for (int i = 0; i < self->fixes; i++)
        if (self->fixed[i] >= count || args[self->fixed[i]] != PyTuple_GET_ITEM(self->constants, i)) return 0;
    return 1;
}

/* Becomes the program whose constants these arguments are; -1 and an exception. */
static int change_constants(Program *self, PyObject *const *args, Py_ssize_t count)
{
    PyObject *compiled, *constants, *made = PyObject_Vectorcall(self->for_others, args, (size_t)count, NULL);
    if (!made) return -1;
    if (!PyArg_ParseTuple(made, "OO!", &compiled, &PyTuple_Type, &constants) || !compiled_test(compiled) ||
        PyTuple_GET_SIZE(constants) != self->fixes) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "program: a compiled function and a tuple of its constants was expected");
        return Py_DECREF(made), -1;
    }
    Py_SETREF(self->compiled, Py_NewRef(compiled));
    Py_SETREF(self->constants, Py_NewRef(constants));
    return Py_DECREF(made), 0;
}

static PyObject *program_call(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    Program *self = (Program *)object;
    PyObject *room[MAX_TAKEN];
    if (!has_its_constants(self, args, count) && change_constants(self, args, count)) return NULL;
    PyObject *const *of_program = pick_arguments(self, args, count, room);
    if (!of_program) return NULL;
    PyObject *compiled = Py_NewRef(self->compiled); /* another thread may change the constants meanwhile */
    PyObject *made = exchange_run(self->exchange, compiled_test(compiled), &self->spare, of_program, self->taken ? self->takes : count, NULL);
    Py_DECREF(compiled);
    return self->given ? complete_results(self, made, args, count) : made;
}

static PyMethodDef call_method = {"program", (PyCFunction)(void (*)(void))program_call, METH_FASTCALL, "A list of the results of its arguments."};

/* Copies a tuple of numbers, none below `least`; None: NULL. 0: it is done; -1 and an exception. */
static int numbers_of(PyObject *tuple, int least, int **out, int *count)
{
    if (tuple == Py_None) return 0;
    if (!PyTuple_Check(tuple)) return PyErr_SetString(PyExc_TypeError, "function: takes tuples of numbers"), -1;
    const Py_ssize_t size = PyTuple_GET_SIZE(tuple);
    *out = calloc((size_t)size + 1, sizeof **out);
    if (!*out) return PyErr_NoMemory(), -1;
    for (Py_ssize_t i = 0; i < size; i++) {
        const long number = PyLong_AsLong(PyTuple_GET_ITEM(tuple, i));
        if (number == -1 && PyErr_Occurred()) return -1;
        if (number < least || number > INT32_MAX) return PyErr_Format(PyExc_ValueError, "function: there is no number %ld", number), -1;
        (*out)[i] = (int)number;
    }
    return *count = (int)size, 0;
}

static PyTypeObject *program_type;

/* What Program has of arguments that are constants; -1 and an exception. */
static int take_constants(Program *self, PyObject *fixed, PyObject *constants, PyObject *for_others)
{
    if (numbers_of(fixed, 0, &self->fixed, &self->fixes)) return -1;
    if (self->fixes && (!PyTuple_Check(constants) || PyTuple_GET_SIZE(constants) != self->fixes || !PyCallable_Check(for_others)))
        return PyErr_SetString(PyExc_TypeError, "function: takes a tuple with a constant for each number, and a function"), -1;
    self->constants = Py_NewRef(constants), self->for_others = Py_NewRef(for_others);
    return 0;
}

/* function(compiled, taken, given, fixed=None, constants=None, for_others=None): call() as a function of the arguments. taken: the numbers
 * of those that the program has; given: of each result its number among the program's, or ~i for argument i; None: all. The program is
 * for those arguments `fixed` that are the objects `constants`; for_others(...arguments) gives that of others, and these. */
static PyObject *exchange_function(PyObject *exchange, PyObject *args)
{
    PyObject *compiled, *taken, *given, *fixed = Py_None, *constants = Py_None, *for_others = Py_None;
    if (!PyArg_ParseTuple(args, "OOO|OOO:function", &compiled, &taken, &given, &fixed, &constants, &for_others)) return NULL;
    if (!compiled_test(compiled)) return PyErr_Format(PyExc_TypeError, "function: takes a compiled function");
    if (taken != Py_None && PyTuple_Check(taken) && PyTuple_GET_SIZE(taken) > MAX_TAKEN)
        return PyErr_Format(PyExc_ValueError, "function: takes at most %d numbers of arguments", MAX_TAKEN);
    Program *self = (Program *)program_type->tp_alloc(program_type, 0);
    if (!self) return NULL;
    self->exchange = (Exchange *)Py_NewRef(exchange), self->compiled = Py_NewRef(compiled);
    const int failed = numbers_of(taken, 0, &self->taken, &self->takes) || numbers_of(given, INT32_MIN, &self->given, &self->gives) ||
                       take_constants(self, fixed, constants, for_others);
    PyObject *made = failed ? NULL : PyCFunction_New(&call_method, (PyObject *)self);
    Py_DECREF(self);
    return made;
}

static void program_dealloc(PyObject *object)
{
    Program *self = (Program *)object;
    Py_XDECREF(self->exchange);
    Py_XDECREF(self->compiled);
    Py_XDECREF(self->constants);
    Py_XDECREF(self->for_others);
    release_spare(&self->spare);
    free(self->taken);
    free(self->given);
    free(self->fixed);
    free_object(object);
}

static PyType_Slot slots[] = {{Py_tp_dealloc, program_dealloc}, {0, NULL}};
static PyType_Spec spec = {"thunder._thunder._Program", sizeof(Program), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

static PyMethodDef methods[] = {{"function", exchange_function, METH_VARARGS, 
                                 "function(compiled, taken, given, fixed=None, constants=None, for_others=None): call as a function of the arguments."},
                                {NULL, NULL, 0, NULL}};

/* After open_exchange(). */
int open_exchange_function(PyObject *module)
{
    PyObject *exchange = PyObject_GetAttrString(module, "Exchange");
    program_type = exchange ? add_type(module, &spec, NULL) : NULL;
    const int failed = !program_type || add_methods((PyTypeObject *)exchange, methods);
    Py_XDECREF(exchange);
    return failed ? -1 : 0;
}
