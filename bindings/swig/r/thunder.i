// R: flat functions over pointers, on which thunder.R is built.
%module "thunder_core"

%typemap(rtype) const thunder_swig::Bytes &, thunder_swig::Bytes "raw"
%typemap(scoercein) const thunder_swig::Bytes & ""
%typemap(scoerceout) thunder_swig::Bytes ""
%typemap(rtypecheck) const thunder_swig::Bytes & "is.raw($arg)"
%typemap(in) const thunder_swig::Bytes & (thunder_swig::Bytes bytes) {
  bytes.data.assign((const char *)RAW($input), (size_t)Rf_xlength($input));
  $1 = &bytes;
}
%typemap(out) thunder_swig::Bytes {
  $result = Rf_allocVector(RAWSXP, (R_xlen_t)$1.data.size());
  $1.data.copy((char *)RAW($result), $1.data.size());
}

// SWIG 4.1 makes the tag of a pointer and leaves it unprotected while it makes the pointer: now and then a collection
// falls between the two.
%header %{
static SEXP thunder_new_pointer(void *pointer, swig_type_info *type) {
  if (!pointer) return R_NilValue;
  SEXP tag = PROTECT(R_MakeExternalPtr(type, R_NilValue, R_NilValue));
  SEXP made = PROTECT(R_MakeExternalPtr(pointer, tag, R_NilValue));
  SET_S4_OBJECT(made);
  UNPROTECT(2);
  return made;
}
#define SWIG_R_NewPointerObj(pointer, type, flags) thunder_new_pointer(pointer, type)
%}

// What holds a function is held weakly, so that one that refers to its own compiled form is collected.
%typemap(in) SEXP "$1 = $input;"
%typemap(out) SEXP "$result = $1;"
%typemap(rtype) SEXP "ANY"
%inline %{
SEXP weak_make(SEXP environment) { return R_MakeWeakRef(environment, R_NilValue, R_NilValue, FALSE); }
SEXP weak_get(SEXP weak) { return R_WeakRefKey(weak); }
%}

%include "../thunder.i"

%{
// thunder_dispatch(ticket) of the global environment, which catches what a function stops with.
static bool thunder_run(long long ticket) {
  SEXP call = PROTECT(Rf_lang2(Rf_install("thunder_dispatch"), Rf_ScalarReal((double)ticket)));
  int failed = 0;
  R_tryEvalSilent(call, R_GlobalEnv, &failed);
  UNPROTECT(1);
  return !failed;
}
%}

%init %{
  thunder_swig::set_runner(thunder_run);
%}
