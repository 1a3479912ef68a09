// thunder_tensor_text, and how a context prints tensors.
#include "capi/options.h"
#include "capi/tensor.h"
#include "jit/context/printing.h"

using namespace thunder;
using namespace thunder::capi;

extern "C" {

thunder_status* thunder_context_set_printoptions(thunder_context* context, const thunder_options* options) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(options, "options");
    core(context)->set_printing(*usable_options(options));
  }));
}

thunder_status* thunder_tensor_text(thunder_context* context, thunder_tensor* tensor, const thunder_options* options,
                                    thunder_values* out) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(tensor, "tensor"), need(out, "out");
    Tensor& t = *core(tensor);
    if (t.kind() == Tensor::Kind::proxy && t.owner()) t.owner()->give_data(t, nullptr);
    TensorPrintOptions how = core(context)->printing();
    if (const CompileOptions* given = usable_options(options)) how = print_options(*given, how, "tensor_text");
    core(out)->push(Any::string(print(t, how)));
  }));
}

}  // extern "C"
