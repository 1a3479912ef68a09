// Ruby: the module Thunder::Core, on which thunder.rb is built.
%module "thunder::core"

%typemap(in) const thunder_swig::Bytes & (thunder_swig::Bytes bytes) {
  StringValue($input);
  bytes.data.assign(RSTRING_PTR($input), (size_t)RSTRING_LEN($input));
  $1 = &bytes;
}
%typemap(out) thunder_swig::Bytes {
  $result = rb_str_new($1.data.data(), (long)$1.data.size());
}

%include "../thunder.i"

%{
#include <ruby/thread.h>
extern "C" int ruby_thread_has_gvl_p(void);  // exported by Ruby, declared in no public header

// Thunder.dispatch(ticket), which rescues what it can; what is left are jumps that are no exceptions (throw, exit of the
// thread). They must not unwind the library.
static VALUE thunder_dispatch(VALUE ticket) {
  return rb_funcall(rb_path2class("Thunder"), rb_intern("dispatch"), 1, ticket);
}
static bool thunder_run(long long ticket) {
  int jumped = 0;
  rb_protect(thunder_dispatch, LL2NUM(ticket), &jumped);
  if (jumped) rb_set_errinfo(Qnil);
  return !jumped;
}

struct thunder_work {
  void (*work)(void *);
  void *arg;
  bool done;
};
static void *thunder_do(void *given) {
  thunder_work *w = (thunder_work *)given;
  w->work(w->arg);
  w->done = true;
  return NULL;
}
// The second form raises no interrupt from here, where it would jump over the library's frames; it does nothing while one is
// waiting.
static void thunder_without_gvl(void (*work)(void *), void *arg) {
  thunder_work w = {work, arg, false};
  rb_thread_call_without_gvl2(thunder_do, &w, NULL, NULL);
  if (!w.done) work(arg);
}
// A callback may run with the lock still held: an eager call does not give it up.
static void thunder_with_gvl(void (*work)(void *), void *arg) {
  thunder_work w = {work, arg, false};
  if (ruby_thread_has_gvl_p())
    work(arg);
  else
    rb_thread_call_with_gvl(thunder_do, &w);
}
%}

%init %{
  thunder_swig::set_runner(thunder_run);
  thunder_swig::set_lock({thunder_without_gvl, thunder_with_gvl});
%}
