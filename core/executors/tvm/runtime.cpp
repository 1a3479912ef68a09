#include "executors/tvm/runtime.h"

#include "base/shared_library.h"
#include "base/text.h"

namespace thunder::tvm {
namespace {

template <class F>
void find_or_fail(const SharedLibrary& library, const char* name, F& function) {
  if (!library.find(name, function)) fail(Code::declined, "it exports no ", name);
}

SharedLibrary library_at(const std::string& file) {
  const char* const name = file.c_str();
  const SharedLibrary library(LibrarySearch{nullptr, {&name, 1}});
  if (!library.opened()) fail(Code::declined, library.report());
  return library;
}

}  // namespace

std::string Runtime::start(const Python& python) {
  python_ = python;
  const SharedLibrary ffi = library_at(python.ffi_library());
  find_or_fail(ffi, "TVMFFIGetVersion", functions_.version);
  Version v{};
  functions_.version(&v);
  if (v.major != kMajorVersion || v.minor != kMinorVersion)
    fail(Code::declined, "its tvm-ffi is ", v.major, ".", v.minor, ".", v.patch, "; ", kMajorVersion, ".",
         kMinorVersion, " is needed");
  find_or_fail(ffi, "TVMFFIFunctionGetGlobal", functions_.find);
  find_or_fail(ffi, "TVMFFIFunctionCall", functions_.call);
  find_or_fail(ffi, "TVMFFIObjectDecRef", functions_.release);
  find_or_fail(ffi, "TVMFFIErrorMoveFromRaised", functions_.take_error);
  find_or_fail(ffi, "TVMFFITensorFromDLPack", functions_.tensor_over);
  library_at(python.runtime_library()), library_at(python.extra_library());
  return cat("TVM ", python.version(), ", tvm-ffi ", v.major, ".", v.minor, ".", v.patch);
}

const Runtime* Runtime::open(std::string& found, std::string_view file) {
  static OneEngine<Runtime> engine;
  return engine.open([](std::string_view of) { return Python(of); }, file, found);
}

bool Runtime::supports_op(std::string_view op) const {
  std::call_once(asked_, [&] { ops_ = python_->ops(); });
  return ops_.contains(op);
}

std::string Runtime::take_error_message() const {
  Object* error = nullptr;
  functions_.take_error(&error);
  if (!error || error->type != kError) {
    release(error);
    return "it raised an error without a message";
  }
  const auto& e = *static_cast<const ErrorObject*>(error);
  const std::string text =
      cat(std::string_view(e.kind.data, e.kind.size), ": ", std::string_view(e.message.data, e.message.size));
  release(error);
  return text;
}

Value Runtime::call(Object* function, std::span<const Value> arguments) const {
  Value result;
  if (functions_.call(function, arguments.data(), static_cast<int32_t>(arguments.size()), &result) != 0)
    fail(Code::backend, "TVM: ", take_error_message());
  return result;
}

Value Runtime::call(const char* global, std::span<const Value> arguments) const {
  const std::string_view name = global;
  const Bytes bytes{name.data(), name.size()};
  Object* function = nullptr;
  if (functions_.find(&bytes, &function) != 0) fail(Code::backend, "TVM: ", take_error_message());
  if (!function) fail(Code::backend, "TVM: it has no function ", name);
  const struct Release {
    const Runtime& tvm;
    Object* function;
    ~Release() { tvm.release(function); }
  } later{*this, function};
  return call(function, arguments);
}

Object* Runtime::function_of(Object* module, const char* name) const {
  Value arguments[3];
  arguments[0].type = kModule, arguments[0].object = module;
  arguments[1].type = kText, arguments[1].text = name;
  arguments[2].type = kBoolean, arguments[2].integer = 0;
  const Value found = call("ffi.ModuleGetFunction", arguments);
  if (found.type == kFunction) return found.object;
  if (found.type >= kFirstObject) release(found.object);
  fail(Code::backend, "TVM: the library has no function ", name);
}

}  // namespace thunder::tvm
