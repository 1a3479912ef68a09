"""A backend of torch.compile that costs nothing: what a call costs before any backend is asked to compute. Its function is C, compiled
when this is imported."""
import importlib.util
import pathlib
import subprocess
import sysconfig
import tempfile

_SOURCE = r"""
#include <Python.h>

static PyObject *call(PyObject *result, PyObject *const *args, Py_ssize_t count)
{
    (void)args, (void)count;
    return Py_NewRef(result);
}

static PyMethodDef call_method = {"call", (PyCFunction)(void (*)(void))call, METH_FASTCALL, NULL};

static PyObject *giving(PyObject *self, PyObject *result)
{
    (void)self;
    return PyCFunction_New(&call_method, result);
}

static PyMethodDef methods[] = {{"giving", giving, METH_O, "giving(result): a function of any arguments that gives it"}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "noop_c", NULL, -1, methods, NULL, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit_noop_c(void) { return PyModule_Create(&module); }
"""


def _compile():
    with tempfile.TemporaryDirectory() as folder:
        source, made = pathlib.Path(folder, "noop_c.c"), pathlib.Path(folder, "noop_c.so")
        source.write_text(_SOURCE, encoding="utf-8")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", f"-I{sysconfig.get_path('include')}", str(source), "-o", str(made)], check=True)
        spec = importlib.util.spec_from_file_location("noop_c", made)
        loaded = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded)
        return loaded


_c = _compile()


def backend(graph, inputs):
    """Gives at each call what the graph gave for the first arguments."""
    return _c.giving(tuple(graph(*inputs)))
