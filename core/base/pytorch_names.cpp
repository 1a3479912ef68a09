#include "base/pytorch_names.h"

#include <algorithm>

namespace thunder {
namespace {

constexpr PyTorchName kNames[] = {
    {"BoolTensor", "tensor(data, dtype)"}, {"Container", "Module"}, {"DataLoader", "data.batches"},
    {"DataParallel", ""}, {"DoubleTensor", "tensor(data, dtype)"},
    {"FloatTensor", "tensor(data, dtype)"}, {"Generator", "seed"},
    {"GradScaler", "autocast to bfloat16, which needs no scaling"}, {"H", "transpose"},
    {"IntTensor", "tensor(data, dtype)"}, {"LambdaLR", ""},
    {"LongTensor", "tensor(data, dtype)"}, {"MultiplicativeLR", ""}, {"NLLLoss2d", "NLLLoss"},
    {"Parameter", "a tensor as a member of a module"}, {"RNNBase", "RNN, LSTM and GRU"},
    {"RNNCellBase", "RNNCell, LSTMCell and GRUCell"}, {"Size", "a tuple"}, {"SparseAdam", "Adam: gradients are dense"},
    {"T", "transpose"}, {"amp", "autocast"}, {"as_strided", ""},
    {"as_tensor", ""},
    {"autograd", "grad_of, grad and value_and_grad"},
    {"backends", ""}, {"backward", "grad_of(loss, parameters), which gives the gradients as values"},
    {"block_diag", ""}, {"buffers", ""},
    {"capturable", "nothing: a compiled step is one program"}, {"cartesian_prod", ""},
    {"channels_last", "nothing: elements lie row by row, and convolutions take the order that they need inside"},
    {"combinations", ""}, {"complex", ""}, {"complex128", ""}, {"complex64", ""},
    {"correction", ""}, {"cpu", ""}, {"differentiable", ""}, {"distributed", ""},
    {"element_size", ""}, {"enable_grad", "tape"},
    {"fft", ""}, {"float8_e4m3fn", ""}, {"foreach", "nothing: a compiled step is one program"},
    {"frobenius_norm", "norm"},
    {"from_numpy", "from_dlpack, or a numpy array as an argument"},
    {"fused", "nothing: a compiled step is one program"},
    {"generator", ""}, {"get_default_dtype", ""}, {"get_num_threads", ""}, {"get_parameter", ""},
    {"get_submodule", ""}, {"grad_fn", "nothing: grad_of differentiates what a compiled function records"},
    {"hub", "load_state_dict of weights that were saved as safetensors"},
    {"imag", ""},
    {"inference_mode", "nothing: only compiled functions and tapes record"},
    {"inplace", "nothing: a compiled program reuses memory by itself"},
    {"is_cuda", ""}, {"is_floating_point", ""},
    {"is_grad_enabled", "nothing: only compiled functions and tapes record"}, {"is_leaf", ""}, {"is_sparse", ""},
    {"istft", ""}, {"jit", "compile"},
    {"layout", ""}, {"load_state_dict", "load"}, {"log_sigmoid", ""}, {"lu", ""},
    {"mH", "transpose"}, {"mT", "transpose"},
    {"memory_format", "nothing: elements lie row by row, and convolutions take the order that they need inside"},
    {"modules", ""}, {"named_buffers", ""}, {"named_modules", ""},
    {"nanquantile", ""}, {"native_layer_norm", ""}, {"new_empty", ""}, {"new_tensor", ""},
    {"no_grad", "nothing: only compiled functions and tapes record"}, {"non_blocking", ""},
    {"numpy", ""}, {"ormqr", ""}, {"out", "copy_"},
    {"pin_memory", "nothing: what goes to a device goes through pinned memory of the library's"},
    {"polar", ""}, {"put", ""}, {"range", ""}, {"reduce", ""},
    {"register_forward_hook", ""}, {"register_hook", ""}, {"register_parameter", ""},
    {"requires_grad", "detach, or leaving the tensor out of grad_of; in Python requires_grad_()"},
    {"requires_grad_", "detach, or leaving the tensor out of grad_of"}, {"resize_", ""},
    {"retain_grad", "grad_of(loss, that tensor)"}, {"script", "compile"}, {"set_default_device", ""},
    {"set_default_dtype", ""}, {"set_grad_enabled", "nothing: only compiled functions and tapes record"},
    {"set_num_threads", ""}, {"set_printoptions", ""}, {"share_memory_", ""},
    {"solve", ""}, {"sparse", ""}, {"state_dict", "state"}, {"stft", ""}, {"storage", ""},
    {"storage_offset", ""}, {"stride", ""}, {"type", "to"},
    {"unbiased", ""},
    {"unravel_index", ""}, {"untyped_storage", ""}, {"upsample", ""}, {"vander", ""},
    {"zero_grad", "nothing: gradients are values, made anew by each grad_of"},
};

}  // namespace

std::span<const PyTorchName> pytorch_names() { return kNames; }

const PyTorchName* find_pytorch_name(std::string_view name) {
  const auto it = std::lower_bound(std::begin(kNames), std::end(kNames), name,
                                   [](const PyTorchName& row, std::string_view wanted) { return row.name < wanted; });
  return it != std::end(kNames) && it->name == name ? it : nullptr;
}

}  // namespace thunder
