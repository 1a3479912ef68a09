// Tcl: the namespace thunder::core, flat functions over pointers, on which thunder.tcl is built.
%module "thunder_core"

%typemap(in) const thunder_swig::Bytes & (thunder_swig::Bytes bytes) {
  int size = 0;
  const unsigned char *data = Tcl_GetByteArrayFromObj($input, &size);
  bytes.data.assign((const char *)data, (size_t)size);
  $1 = &bytes;
}
%typemap(out) thunder_swig::Bytes {
  Tcl_SetObjResult(interp, Tcl_NewByteArrayObj((const unsigned char *)$1.data.data(), (int)$1.data.size()));
}

// Plain pointers: SWIG's own commands for objects would each need deleting twice.
%typemap(out) thunder_swig::Call *, thunder_swig::Tensor *, thunder_swig::Function *, thunder_swig::Compiled *,
              thunder_swig::Module *, thunder_swig::Optimizer * {
  Tcl_SetObjResult(interp, SWIG_NewPointerObj(SWIG_as_voidptr($1), $1_descriptor, 0));
}

%include "../thunder.i"

%{
// The interpreter that loaded this, of the thread that runs in it.
static thread_local Tcl_Interp *thunder_interpreter = NULL;

// thunder::dispatch ticket, which catches what a script fails with; the interpreter's result stays as it was.
static bool thunder_run(long long ticket) {
  Tcl_Interp *interpreter = thunder_interpreter;
  if (!interpreter) return false;
  Tcl_InterpState state = Tcl_SaveInterpState(interpreter, TCL_OK);
  Tcl_Obj *words[2] = {Tcl_NewStringObj("::thunder::dispatch", -1), Tcl_NewWideIntObj((Tcl_WideInt)ticket)};
  for (Tcl_Obj *word : words) Tcl_IncrRefCount(word);
  const int code = Tcl_EvalObjv(interpreter, 2, words, TCL_EVAL_GLOBAL);
  for (Tcl_Obj *word : words) Tcl_DecrRefCount(word);
  Tcl_RestoreInterpState(interpreter, state);
  return code == TCL_OK;
}
%}

%init %{
  thunder_interpreter = interp;
  thunder_swig::set_runner(thunder_run);
%}
