// What the pages of the site say of an op beside docs/ops.md: a call of it as a script of Lua, of a small sample of its
// row, the prims that its samples come down to, and whether each has kernels on CUDA devices, and is fused.
#pragma once

#include <cmath>
#include <set>

#include "base/utf8.h"
#include "op_support.h"

namespace thunder {

// Also notes which prims a call comes down to.
class PrimNames : public TypeBuilder {
 public:
  using TypeBuilder::TypeBuilder;
  std::set<std::string> names;

 protected:
  Results prim(const OpDef& op, std::span<const Arg> args, const Types& types) override {
    names.emplace(op.name());
    return TypeBuilder::prim(op, args, types);
  }
};

// Writes samples as Lua, with the same numbers each time.
class LuaWriter {
 public:
  std::string tensor(const TensorSpec& spec) {
    for (int64_t size : spec.shape)
      if (size == 0)
        return cat("th.zeros({", join(spec.shape, ", ", [](int64_t d) { return d; }), "}, \"", name(spec.dtype), "\")");
    const std::string elements = level(spec, 0);
    const std::string_view dtype = name(spec.dtype);
    const bool plain = spec.dtype == DType::f32 || spec.dtype == DType::boolean;
    return cat("th.tensor(", elements, plain ? "" : cat(", \"", dtype, "\""), ")");
  }

 private:
  std::string level(const TensorSpec& spec, size_t axis) {
    if (axis == spec.shape.size()) return element(spec);
    std::vector<std::string> parts;
    for (int64_t i = 0; i < spec.shape[axis]; i++) parts.push_back(level(spec, axis + 1));
    return cat("{ ", join(parts, ", ", [](auto& part) -> const std::string& { return part; }), " }");
  }
  std::string element(const TensorSpec& spec) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    const double u = static_cast<double>(state_ >> 40) / (1 << 24);
    if (spec.dtype == DType::boolean) return u < 0.5 ? "true" : "false";
    if (!is_real(spec.dtype)) return cat(static_cast<int64_t>(spec.low + std::floor(u * (spec.high - spec.low + 1))));
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", spec.low + u * (spec.high - spec.low));
    return text;
  }
  uint64_t state_ = 1;
};

// How many numbers a reader of the example reads, more where they are of an uncommon dtype.
inline size_t length_of(const Sample& sample) {
  size_t all = 0;
  bool first = true;
  const auto add = [&](const TensorSpec& spec) {
    size_t count = 1;
    for (int64_t size : spec.shape) count *= static_cast<size_t>(size);
    all += count == 0 ? 1000 : count;  // empty ones show little
    if (spec.dtype != DType::f32 && (first || is_real(spec.dtype))) all += 100;
    first = false;
  };
  for (const SampleArg& arg : sample.args) {
    if (auto* one = std::get_if<TensorSpec>(&arg.value)) add(*one);
    if (auto* list = std::get_if<std::vector<TensorSpec>>(&arg.value)) std::for_each(list->begin(), list->end(), add);
  }
  return all;
}

inline std::string lua_argument(const SampleArg& arg) {
  if (auto* dims = std::get_if<std::vector<int64_t>>(&arg.value))
    return dims->empty() ? "{}" : cat("{ ", join(*dims, ", ", [](int64_t d) { return d; }), " }");
  if (auto* b = std::get_if<bool>(&arg.value)) return *b ? "true" : "false";
  if (auto* i = std::get_if<int64_t>(&arg.value)) return cat(*i);
  if (auto* f = std::get_if<double>(&arg.value))
    return std::isinf(*f) ? (*f < 0 ? "-math.huge" : "math.huge") : std::isnan(*f) ? "0 / 0" : cat(*f);
  if (auto* s = std::get_if<std::string>(&arg.value)) return cat("\"", *s, "\"");
  if (auto* d = std::get_if<DType>(&arg.value)) return cat("\"", name(*d), "\"");
  return "nil";
}

inline std::string lua_call(const OpDef& op, const Sample& sample) {
  LuaWriter writer;
  std::string declared;
  std::vector<std::string> arguments;
  for (size_t i = 0; i < sample.args.size(); i++) {
    const SampleArg& arg = sample.args[i];
    std::string called = op.schema.params[i].name;
    if (called == "end" || called == "repeat") called += "_";
    if (auto* one = std::get_if<TensorSpec>(&arg.value)) {
      declared += cat("local ", called, " = ", writer.tensor(*one), "\n");
      arguments.push_back(called);
    } else if (auto* list = std::get_if<std::vector<TensorSpec>>(&arg.value)) {
      const std::string tensors = join(*list, ", ", [&](auto& spec) { return writer.tensor(spec); });
      declared += cat("local ", called, " = { ", tensors, " }\n");
      arguments.push_back(called);
    } else {
      arguments.push_back(lua_argument(arg));
    }
  }
  const std::string called = op.name() == "repeat" ? "[\"repeat\"]" : cat(".", op.name());  // a word of Lua's own
  const std::string all = join(arguments, ", ", [](auto& a) -> const std::string& { return a; });
  return cat(declared, "print(th", called, "(", all, "))");
}

// Whether it can be part of a fused kernel, or is none.
inline bool is_fused(const OpDef& prim) { return fusion::find_prim(prim) || prim.view; }

// Of the executors that run on CUDA devices, whether one knows the prim by name.
inline bool has_cuda_kernels(Context& context, const OpDef& prim) {
  for (const std::string name : {"cublaslt", "cudnn", "cusolver", "cuda", "kernels"}) {
    const Ref<Executor> executor = context.find_executor(name);
    if (executor && !executor->desc().ops.empty() && executor->may_claim(prim.name())) return true;
  }
  return is_fused(prim);
}

inline void print_examples(std::ostream& out, Context& context, const std::vector<const OpDef*>& ops) {
  out << "{";
  const char* comma = "";
  for (const OpDef* op : ops) {
    const Samples samples = samples_of(*op);
    if (samples.all.empty()) continue;
    PrimNames builder(context.registry());
    const Sample* best = nullptr;
    for (const Sample& sample : samples.all) {
      const SampleArguments given(builder, sample, DType::f32);
      try {
        builder.invoke(*op, CompleteArgs(*op, given.span()).span());
      } catch (const Error&) {  // not of this dtype
      }
      const size_t length = length_of(sample);
      if (!best || (length > 3 && length < length_of(*best)) || length_of(*best) <= 3) best = &sample;
    }
    const auto listed = [&](const std::string& prim) {
      const OpDef& op = context.registry().get(prim);
      return cat(json_quote(prim), ":{\"cuda\":", has_cuda_kernels(context, op) ? "true" : "false",
                 ",\"fused\":", is_fused(op) ? "true}" : "false}");
    };
    out << comma << json_quote(op->name()) << ":{\"code\":" << json_quote(lua_call(*op, *best)) << ",\"prims\":{"
        << join(builder.names, ",", listed) << "}}\n";
    comma = ",";
  }
  out << "}\n";
}

}  // namespace thunder
