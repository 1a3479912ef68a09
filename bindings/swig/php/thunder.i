// PHP: classes Thunder_Core_NAME and functions thunder_core_NAME, on which Thunder.php is built.
%module "thunder_core"
%rename(Traceable) thunder_swig::Function;  // "function" is a word of PHP
%rename("thunder_core_%s", %$isfunction, %$not %$ismember) "";

%typemap(in) const thunder_swig::Bytes & (thunder_swig::Bytes bytes) {
  convert_to_string(&$input);
  bytes.data.assign(Z_STRVAL($input), Z_STRLEN($input));
  $1 = &bytes;
}
%typemap(out) thunder_swig::Bytes {
  RETVAL_STRINGL($1.data.data(), $1.data.size());
}

%include "../thunder.i"

%{
// Thunder\dispatch(ticket), which catches what a closure throws.
static bool thunder_run(long long ticket) {
  zval name, result, argument;
  ZVAL_STRING(&name, "Thunder\\dispatch");
  ZVAL_LONG(&argument, (zend_long)ticket);
  ZVAL_UNDEF(&result);
  const int called = call_user_function(NULL, NULL, &name, &result, 1, &argument);
  zval_ptr_dtor(&name);
  zval_ptr_dtor(&result);
  return called == SUCCESS && !EG(exception);
}
%}

%minit %{
  thunder_swig::set_runner(thunder_run);
%}
