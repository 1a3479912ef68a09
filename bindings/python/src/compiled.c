/* Accessors of a compiled function for other files. */
#include "compiled.h"

PyTypeObject *compiled_type;

host *compiled_host(PyObject *object) { return ((Compiled *)object)->host; }

void compiled_share_host(PyObject *object, PyObject *of)
{
    Compiled *self = (Compiled *)object;
    self->host = ((Compiled *)of)->host;
    self->host_of = Py_NewRef(of);
}

thunder_compiled *compiled_test(PyObject *object)
{
    return PyObject_TypeCheck(object, compiled_type) ? ((Compiled *)object)->compiled : NULL;
}

thunder_function *compiled_function(PyObject *object) { return ((Compiled *)object)->handle; }
