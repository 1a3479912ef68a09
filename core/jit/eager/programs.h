// Composites outside of programs, and gradients of ops, on devices: each call as a program of its own, so that
// executors claim it whole, or fuse what it is made of, as in compiled functions.
#pragma once

#include <map>
#include <memory>
#include <shared_mutex>
#include <unordered_map>

#include "tracer/scope.h"

namespace thunder {

class Context;

// Any thread. Calls of the same op, arguments, types and strides are always run in the same way.
class EagerPrograms final : public CompositeRunner {
 public:
  explicit EagerPrograms(Context& context);
  ~EagerPrograms() override;

  // False: the call is to be taken apart, as programs are not worth it, or the op has come in too many shapes to
  // compile one for each, or it failed: taking it apart says why. Throws what running it reports.
  bool run(const OpDef& op, std::span<const Arg> args, std::span<Tensor* const> in,
           std::vector<Ref<Tensor>>& out) override;
  // The same.
  bool gradient(const OpDef& op, std::span<const Arg> args, std::span<Tensor* const> in,
                std::span<Tensor* const> results, std::span<Tensor* const> cotangents, const std::vector<bool>& wanted,
                std::vector<Ref<Tensor>>& out) override;

 private:
  class Program;
  // `more`: what tells calls apart besides the op, its arguments and their types; empty for calls of the op itself.
  template <class Compile>
  std::shared_ptr<Program> find(const OpDef& op, std::span<const Arg> args, std::span<Tensor* const> in,
                                std::vector<int64_t> more, Compile compile);

  Context& context_;
  std::shared_mutex mutex_;
  std::unordered_multimap<uint64_t, std::shared_ptr<Program>> programs_;
  std::map<std::pair<const OpDef*, bool>, int> shapes_;  // for which the op, or its gradient, was compiled
};

// Makes the context's scopes run composites this way from now on. Must be called before any scope is made.
void use_eager_programs(Context& context);

}  // namespace thunder
