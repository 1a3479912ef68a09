// Python: the module _thunder_core behind thunder_core.py, on which thunder_swig.py is built.
%module "thunder_core"

%typemap(in) const thunder_swig::Bytes & (thunder_swig::Bytes bytes) {
  Py_buffer view;
  if (PyObject_GetBuffer($input, &view, PyBUF_SIMPLE) != 0) SWIG_fail;
  bytes.data.assign((const char *)view.buf, (size_t)view.len);
  PyBuffer_Release(&view);
  $1 = &bytes;
}
%typemap(out) thunder_swig::Bytes {
  $result = PyBytes_FromStringAndSize($1.data.data(), (Py_ssize_t)$1.data.size());
}

%include "../thunder.i"

%{
// What set_dispatch() was given; it catches what a function raises.
static PyObject *thunder_dispatch = NULL;

static bool thunder_run(long long ticket) {
  PyObject *result = thunder_dispatch ? PyObject_CallFunction(thunder_dispatch, "L", ticket) : NULL;
  if (!result) PyErr_Clear();
  Py_XDECREF(result);
  return result != NULL;
}

static void thunder_without_gil(void (*work)(void *), void *arg) {
  PyThreadState *state = PyEval_SaveThread();
  work(arg);
  PyEval_RestoreThread(state);
}
static void thunder_with_gil(void (*work)(void *), void *arg) {
  const PyGILState_STATE state = PyGILState_Ensure();
  work(arg);
  PyGILState_Release(state);
}
%}

%inline %{
void set_dispatch(PyObject *function) {
  Py_INCREF(function);
  Py_XSETREF(thunder_dispatch, function);
}
%}

%init %{
  thunder_swig::set_runner(thunder_run);
  thunder_swig::set_lock({thunder_without_gil, thunder_with_gil});
%}
