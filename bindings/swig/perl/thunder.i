// Perl: the package Thunder::Core, on which Thunder.pm is built.
%module "Thunder::Core"

%typemap(in) const thunder_swig::Bytes & (thunder_swig::Bytes bytes) {
  STRLEN size;
  const char *data = SvPVbyte($input, size);
  bytes.data.assign(data, size);
  $1 = &bytes;
}
%typemap(out) thunder_swig::Bytes {
  $result = sv_2mortal(newSVpvn($1.data.data(), $1.data.size()));
  argvi++;
}

%include "../thunder.i"

%{
// Thunder::dispatch(ticket) catches what a closure dies of.
static bool thunder_run(long long ticket) {
  dTHX;
  dSP;
  ENTER;
  SAVETMPS;
  PUSHMARK(SP);
  XPUSHs(sv_2mortal(newSViv((IV)ticket)));
  PUTBACK;
  call_pv("Thunder::dispatch", G_VOID | G_DISCARD | G_EVAL);
  const bool died = SvTRUE(ERRSV);
  FREETMPS;
  LEAVE;
  return !died;
}
%}

%init %{
  thunder_swig::set_runner(thunder_run);
%}
