#include "jit/dynamic.h"

#include <algorithm>
#include <set>

#include "ir/symbols.h"

namespace thunder {
namespace {

constexpr size_t kMostSizes = 8;  // that are tried one after the other

// A size that may stand for others: 0 and 1 are sizes of their own.
bool may_vary(const Leaf& l, size_t dim) { return l.kind == ArgKind::value && l.tensor->concrete() && l.tensor->contiguous() && l.tensor->sizes()[dim] >= 2; }

DimMask no_dims(const Values& in) {
  DimMask mask(in.size());
  for (size_t leaf = 0; leaf < in.size(); leaf++)
    if (in[leaf].kind == ArgKind::value && in[leaf].tensor->concrete()) mask[leaf].resize(in[leaf].tensor->type().rank());
  return mask;
}

DimMask all_dims(const Values& in) {
  DimMask mask = no_dims(in);
  for (size_t leaf = 0; leaf < mask.size(); leaf++)
    for (size_t dim = 0; dim < mask[leaf].size(); dim++) mask[leaf][dim] = may_vary(in[leaf], dim);
  return mask;
}

// The sizes in which these inputs differ from those of a program. Empty when they differ in anything else.
DimMask varying_dims(const Entry& entry, const Values& in) {
  if (entry.inputs.structure != in.structure()) return {};
  DimMask mask = no_dims(in);
  for (size_t i = 0; i < entry.leaves; i++) {
    const uint32_t leaf = entry.bindings[i].leaf;
    const TensorType& was = entry.traces[0].type(entry.traces[0].inputs[i].value);
    if (mask[leaf].size() != was.rank()) return {};
    for (size_t dim = 0; dim < was.rank(); dim++) {
      if (was.shape[dim] == Dim(in[leaf].tensor->sizes()[dim])) continue;
      if (!may_vary(in[leaf], dim) || (was.shape[dim].constant() && was.shape[dim].value() < 2)) return {};
      mask[leaf][dim] = true;
    }
  }
  return mask;
}

bool any_dim(const DimMask& mask) {
  return std::any_of(mask.begin(), mask.end(), [](auto& dims) { return std::find(dims.begin(), dims.end(), true) != dims.end(); });
}

DimMask dims_of_size(const Values& in, DimMask mask, int64_t size) {
  for (size_t leaf = 0; leaf < mask.size(); leaf++)
    for (size_t dim = 0; dim < mask[leaf].size(); dim++) mask[leaf][dim] = mask[leaf][dim] && in[leaf].tensor->sizes()[dim] == size;
  return mask;
}

void add(DimMask& mask, const DimMask& more) {
  for (size_t leaf = 0; leaf < mask.size(); leaf++)
    for (size_t dim = 0; dim < mask[leaf].size(); dim++) mask[leaf][dim] = mask[leaf][dim] || more[leaf][dim];
}

// What an op reports of symbols may be no error with plain sizes; what the caller's code raises, an interrupt too, stands.
template <class F>
auto unless_refused(F&& make) -> decltype(make()) {
  try {
    return make();
  } catch (const Error& e) {
    if (e.code() != Code::invalid_argument && e.code() != Code::unimplemented && e.code() != Code::internal) throw;
    return nullptr;
  }
}

// A trace with as many of the sizes as symbols as the function bears: all, or else one after the other those with which no op
// refuses it. A size that must be that of a parameter is none of them.
std::unique_ptr<Entry> recorded(Context& context, Function& function, const Values& in, const DimMask& mask) {
  bool refused = true;
  const auto with = [&](const DimMask& m) {
    return unless_refused([&] {
      auto entry = record_symbolic(context, function, in, m);
      refused = false;
      return entry;
    });
  };
  auto found = with(mask);
  if (!refused) return found;
  std::set<int64_t> sizes;
  for (size_t leaf = 0; leaf < mask.size(); leaf++)
    for (size_t dim = 0; dim < mask[leaf].size(); dim++)
      if (mask[leaf][dim]) sizes.insert(in[leaf].tensor->sizes()[dim]);
  if (sizes.size() < 2 || sizes.size() > kMostSizes) return nullptr;
  DimMask kept = no_dims(in);
  for (int64_t size : sizes) {
    DimMask more = kept;
    add(more, dims_of_size(in, mask, size));
    auto entry = with(more);
    if (!entry) continue;
    found = std::move(entry);
    kept = std::move(more);
  }
  return found;
}

}  // namespace

std::shared_ptr<const Entry> Plans::find(const Inputs& in) {
  std::lock_guard lock(mutex_);
  for (auto it = plans_.begin(); it != plans_.end(); ++it) {
    const Entry& e = *it->entry;
    if (!e.key.matches(in) || (!e.float_guards.empty() && !floats_are_same(e, in)) || !guards_hold(*it->of->recorded, nullptr)) continue;
    plans_.splice(plans_.begin(), plans_, it);
    return plans_.front().entry;
  }
  return nullptr;
}

void Plans::insert(std::shared_ptr<const Entry> entry, std::shared_ptr<const SymbolicProgram> of) {
  std::lock_guard lock(mutex_);
  plans_.push_front({std::move(entry), std::move(of)});
  size_t plans = 0, bytes = 0;
  const auto excess = std::find_if(plans_.begin(), plans_.end(), [&](const Plan& p) {
    bytes += p.entry->program->peak_bytes();
    return ++plans > kMost || (plans > 1 && bytes > kMostBytes);
  });
  plans_.erase(excess, plans_.end());  // calls that run them keep them
}

size_t Plans::size() const {
  std::lock_guard lock(mutex_);
  return plans_.size();
}

std::shared_ptr<const Entry> Dynamic::specialised(Context& context, const CompileOptions& options, const Values& in, InterruptCheck& check) {
  for (const auto& p : programs_) {
    if (!p->fits(in)) continue;
    std::shared_ptr<Entry> entry = unless_refused([&] { return compile_entry(context, *p->function, options, in, Effort::full, check); });
    if (!entry) continue;
    entry->key = Key(Inputs{&in, nullptr, in.size()});
    plans_.insert(entry, p);
    return entry;
  }
  return nullptr;
}

void Dynamic::add(std::string_view function, const SavedProgram& program) {
  if (used_symbols(program.trace).empty()) return;
  auto made = std::make_shared<SymbolicProgram>();
  made->recorded = std::make_unique<Entry>();
  made->function = Ref<SavedFunction>::adopt(new SavedFunction(std::string(function), {program}));
  programs_.push_back(std::move(made));
}

std::vector<SavedProgram> Dynamic::saved() const {
  std::vector<SavedProgram> out;
  for (const auto& p : programs_)
    if (guards_hold(*p->recorded, nullptr)) out.push_back(p->function->programs()[0]);
  return out;
}

std::shared_ptr<const Entry> Dynamic::compile(Context& context, Function& function, const CompileOptions& options, const Values& in, bool all,
                                              std::span<const Entry* const> kept, InterruptCheck& check) {
  if (auto found = specialised(context, options, in, check)) return found;
  DimMask mask = all ? all_dims(in) : DimMask();
  for (size_t i = kept.size(); i-- > 0 && !all && !any_dim(mask);) mask = varying_dims(*kept[i], in);
  if (!any_dim(mask) || traced_ == kMostTraces) return nullptr;
  traced_++;
  auto made = std::make_shared<SymbolicProgram>();
  made->recorded = recorded(context, function, in, mask);
  if (!made->recorded) return nullptr;
  made->function = unless_refused([&] {
    std::vector<SavedProgram> one;
    one.push_back(saved_program(*made->recorded, context));
    return Ref<SavedFunction>::adopt(new SavedFunction(function.name(), std::move(one)));
  });
  if (!made->function) return nullptr;
  programs_.push_back(made);
  return specialised(context, options, in, check);
}

}  // namespace thunder
