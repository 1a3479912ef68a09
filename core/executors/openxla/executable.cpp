#include "executors/openxla/executable.h"

#include <algorithm>
#include <iterator>

#include "base/status.h"
#include "base/text.h"
#include "ir/dtype.h"

namespace thunder::openxla {
namespace {

// Indexed by PJRT_Buffer_Type.
constexpr DType kTypes[] = {DType::none, DType::boolean, DType::i8,  DType::i16, DType::i32, DType::i64, DType::u8,
                            DType::u16,  DType::u32,     DType::u64, DType::f16, DType::f32, DType::f64, DType::bf16};

int type_of(DType dtype) {
  const auto at = std::ranges::find(kTypes, dtype) - std::begin(kTypes);
  return at < std::ssize(kTypes) ? static_cast<int>(at) : 0;
}

// Makes a buffer over existing memory: owned, or null with an error.
PjrtError* make_buffer_over(const Plugin& plugin, const Buffer& b, Semantics semantics, PjrtBuffer*& out) {
  FromHostArgs args;
  args.client = plugin.client(), args.device = plugin.device(), args.data = b.data, args.type = type_of(b.dtype);
  args.dims = b.shape, args.rank = static_cast<size_t>(b.rank), args.semantics = semantics;
  if (PjrtError* failed = plugin.call(kBufferFromHost, args)) return failed;
  out = args.buffer;
  // A plugin whose device has memory of its own copies asynchronously, so wait for the copy.
  if (!plugin.is_on_host()) return plugin.wait(args.done);
  plugin.release(args.done);
  return nullptr;
}

PjrtError* address_of(const Plugin& plugin, PjrtBuffer* buffer, void*& out) {
  AddressArgs args;
  args.buffer = buffer;
  PjrtError* const failed = plugin.call(kBufferAddress, args);
  out = reinterpret_cast<void*>(args.address);
  return failed;
}

// CompileOptionsProto: executable_build_options, with one replica and one partition.
constexpr char kOptions[] = {0x1a, 0x04, 0x20, 0x01, 0x28, 0x01};

}  // namespace

struct Executable::Bound {
  explicit Bound(const Plugin& of, size_t arguments, size_t results)
      : plugin(of), arguments(arguments), results(results) {}
  ~Bound() {
    for (PjrtBuffer* b : arguments)
      if (b) plugin.release(b);
    for (PjrtBuffer* b : results)
      if (b) plugin.release(b);
  }
  void release(PjrtBuffer*& b) const {
    if (b) plugin.release(b);
    b = nullptr;
  }
  const Plugin& plugin;
  std::vector<PjrtBuffer*> arguments, results;                                      // null: none
  std::vector<const void*> addresses = std::vector<const void*>(arguments.size());  // null: the argument is a copy
};

Executable::Executable(const Plugin& plugin, const std::string& module, size_t inputs, size_t outputs, bool aliases)
    : plugin_(plugin), inputs_(inputs), outputs_(outputs), aliases_(aliases) {
  ProgramArgs program;
  program.code = module.data(), program.code_size = module.size(), program.format = "mlir", program.format_size = 4;
  CompileArgs args;
  args.client = plugin.client(), args.program = &program, args.options = kOptions, args.options_size = sizeof kOptions;
  plugin.check(plugin.call(kCompile, args));
  executable_ = args.executable;
}

Executable::~Executable() {
  idle_.clear();
  if (executable_) plugin_.release(executable_);
}

PjrtError* Executable::bind_inputs(Bound& bound, std::span<const Buffer> in) const {
  for (size_t i = 0; i < in.size(); i++) {
    PjrtBuffer*& buffer = bound.arguments[i];
    if (buffer && bound.addresses[i] == in[i].data) continue;
    bound.release(buffer);
    if (PjrtError* failed = make_buffer_over(plugin_, in[i], Semantics::immutable_zero_copy, buffer)) return failed;
    // Memory that the plugin finds badly aligned is copied, and has to be copied at each call.
    void* at = nullptr;
    if (plugin_.is_on_host())
      if (PjrtError* failed = address_of(plugin_, buffer, at)) return failed;
    bound.addresses[i] = at == in[i].data ? at : nullptr;
    if (!bound.addresses[i]) copies_.fetch_add(1, std::memory_order_relaxed);
  }
  return nullptr;
}

PjrtError* Executable::execute(Bound& bound, std::span<const Buffer> out) const {
  for (size_t i = 0; aliases_ && i < out.size(); i++)
    if (PjrtError* failed =
            make_buffer_over(plugin_, out[i], Semantics::mutable_zero_copy, bound.arguments[inputs_ + i]))
      return failed;
  ExecuteOptions options;
  PjrtBuffer* const* const arguments = bound.arguments.data();
  PjrtBuffer** const results = bound.results.data();
  PjrtEvent* complete = nullptr;
  ExecuteArgs args;
  args.executable = executable_, args.options = &options;
  args.arguments = &arguments, args.argument_count = bound.arguments.size();
  args.results = &results, args.complete = &complete;
  if (PjrtError* failed = plugin_.call(kExecute, args)) return failed;
  return plugin_.wait(complete);
}

// Copies results that XLA did not write to the wanted place.
PjrtError* Executable::copy_results(Bound& bound, std::span<const Buffer> out) const {
  for (size_t i = 0; i < out.size(); i++) {
    void* at = nullptr;
    if (plugin_.is_on_host())
      if (PjrtError* failed = address_of(plugin_, bound.results[i], at)) return failed;
    if (at == out[i].data) continue;
    copies_.fetch_add(1, std::memory_order_relaxed);
    ToHostArgs args;
    args.buffer = bound.results[i], args.data = out[i].data;
    args.bytes = static_cast<size_t>(out[i].elements()) * size_of(out[i].dtype);
    if (PjrtError* failed = plugin_.call(kBufferToHost, args)) return failed;
    if (PjrtError* failed = plugin_.wait(args.event)) return failed;
  }
  return nullptr;
}

Status* Executable::run(std::span<const Buffer> in, std::span<const Buffer> out) const {
  auto bound = idle_.take(
      [&] { return std::make_unique<Bound>(plugin_, inputs_ + (aliases_ ? outputs_ : 0), outputs_); });
  PjrtError* failed = bind_inputs(*bound, in);
  if (!failed) failed = execute(*bound, out);
  if (!failed) failed = copy_results(*bound, out);
  for (size_t i = inputs_; i < bound->arguments.size(); i++) bound->release(bound->arguments[i]);
  for (PjrtBuffer*& b : bound->results) bound->release(b);
  if (failed) return make<Status>(Code::backend, cat("OpenXLA: ", plugin_.message_of(failed))).detach();
  idle_.give_back(std::move(bound));
  return nullptr;
}

}  // namespace thunder::openxla
