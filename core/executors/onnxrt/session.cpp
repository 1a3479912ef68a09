#include "executors/onnxrt/session.h"

#include "base/status.h"
#include "base/text.h"
#include "onnx/export/graph.h"

namespace thunder::onnxrt {
namespace {

OrtStatus* make_value_over(const Runtime& runtime, const Buffer& b, OrtValue** out) {
  return runtime.call(kCreateTensorWithData, runtime.memory(), b.data,
                      static_cast<size_t>(b.elements()) * size_of(b.dtype), b.shape, static_cast<size_t>(b.rank),
                      static_cast<int>(onnx_export::number_of(b.dtype)), out);
}

}  // namespace

struct Session::Bound {
  Bound(const Runtime& of, size_t count) : runtime(of), values(count), addresses(count) {}
  ~Bound() {
    if (binding) runtime.release(kReleaseIoBinding, binding);
    for (OrtValue* v : values)
      if (v) runtime.release(kReleaseValue, v);
  }
  const Runtime& runtime;
  OrtIoBinding* binding = nullptr;
  std::vector<OrtValue*> values;
  std::vector<void*> addresses;
};

Session::Session(const Runtime& runtime, const std::string& model, std::vector<std::string> inputs,
                 std::vector<std::string> outputs, std::span<const SharedConstant> constants, size_t threads)
    : runtime_(runtime), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {
  OrtSessionOptions* options = nullptr;
  runtime.check(runtime.call(kCreateSessionOptions, &options));
  const struct Release {
    const Runtime& runtime;
    OrtSessionOptions* options;
    ~Release() { runtime.release(kReleaseSessionOptions, options); }
  } release{runtime, options};
  const auto set = [&](const char* key, const char* value) {
    runtime.check(runtime.call(kAddSessionConfigEntry, options, key, value));
  };
  runtime.check(runtime.call(kSetIntraOpNumThreads, options, static_cast<int>(threads)));
  set("session.intra_op.allow_spinning", "0");
  std::vector<const char*> names;
  for (const SharedConstant& c : constants) {
    constants_.push_back(nullptr);
    names.push_back(c.name.c_str());
    runtime.check(make_value_over(runtime, c.data, &constants_.back()));
  }
  if (!names.empty())
    runtime.check(runtime.call(kAddExternalInitializers, options, names.data(),
                               const_cast<const OrtValue* const*>(constants_.data()), names.size()));
  runtime.check(runtime.call(kCreateSessionFromArray, static_cast<const OrtEnv*>(runtime.env()),
                             static_cast<const void*>(model.data()), model.size(),
                             static_cast<const OrtSessionOptions*>(options), &session_));
}

Session::~Session() {
  idle_.clear();
  if (session_) runtime_.release(kReleaseSession, session_);
  for (OrtValue* v : constants_)
    if (v) runtime_.release(kReleaseValue, v);
}

OrtStatus* Session::bind(Bound& bound, std::span<const Buffer> buffers, size_t first,
                         std::span<const std::string> names, Place place) const {
  for (size_t i = 0; i < names.size(); i++) {
    OrtValue*& value = bound.values[first + i];
    if (value && bound.addresses[first + i] == buffers[i].data) continue;
    OrtValue* made = nullptr;
    if (OrtStatus* failed = make_value_over(runtime_, buffers[i], &made)) return failed;
    if (value) runtime_.release(kReleaseValue, value);
    value = made, bound.addresses[first + i] = buffers[i].data;
    if (OrtStatus* failed = runtime_.call(place, bound.binding, names[i].c_str(), static_cast<const OrtValue*>(made)))
      return failed;
  }
  return nullptr;
}

Status* Session::run(std::span<const Buffer> in, std::span<const Buffer> out) const {
  auto bound = idle_.take([&] { return std::make_unique<Bound>(runtime_, inputs_.size() + outputs_.size()); });
  OrtStatus* failed = bound->binding ? nullptr : runtime_.call(kCreateIoBinding, session_, &bound->binding);
  if (!failed) failed = bind(*bound, in, 0, inputs_, kBindInput);
  if (!failed) failed = bind(*bound, out, inputs_.size(), outputs_, kBindOutput);
  if (!failed)
    failed = runtime_.call(kRunWithBinding, session_, static_cast<const OrtRunOptions*>(nullptr),
                           static_cast<const OrtIoBinding*>(bound->binding));
  if (failed) return make<Status>(Code::backend, cat("ONNX Runtime: ", runtime_.message_of(failed))).detach();
  idle_.give_back(std::move(bound));
  return nullptr;
}

}  // namespace thunder::onnxrt
