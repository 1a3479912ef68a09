// What every language wraps. A language's own file includes this one after saying how `Bytes` and `long long` cross and,
// where there are directors, `#define THUNDER_DIRECTORS`.
//
// Nothing here raises: a call says whether it failed (core/call.h), and the language's own layer turns that into its
// kind of exception.
%begin %{
#include "call.h"
#include "callbacks.h"
%}

%newobject thunder_swig::Call::as_tensor;
%newobject thunder_swig::Call::make_function;
%newobject thunder_swig::Call::value_and_grad;
%newobject thunder_swig::Call::compile;

%nodefaultctor thunder_swig::Tensor;
%nodefaultctor thunder_swig::Function;

%include <std_string.i>
%ignore thunder_swig::Bytes;
%include "classes.i"
%include "handles.h"
%include "classes.h"
%include "call.h"

#ifdef THUNDER_DIRECTORS
%feature("director") thunder_swig::Dispatcher;
#else
%ignore thunder_swig::Dispatcher;
%ignore thunder_swig::set_dispatcher;
#endif
%include "callbacks.h"
