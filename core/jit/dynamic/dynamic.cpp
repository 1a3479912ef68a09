#include "jit/dynamic/dynamic.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "ir/symbols.h"
#include "jit/context/context.h"
#include "jit/record/shapes.h"
#include "tracer/replay.h"

namespace thunder {
namespace {

constexpr size_t kMostSizes = 8;  // that are tried one after the other

// What an op reports of symbols may be no error with plain sizes; what the caller's code raises, an interrupt too,
// stands.
template <class F>
auto null_if_refused(std::string& why, F&& make) -> decltype(make()) {
  try {
    return make();
  } catch (const Error& e) {
    if (!is_callers_mistake(e.code()) && e.code() != Code::unimplemented && e.code() != Code::internal) throw;
    why = e.message();
    return nullptr;
  }
}

// A trace with as many of the sizes as symbols as the function bears: all, or else one after the other those with which
// no op refuses it. A size that must be that of a parameter is none of them.
std::unique_ptr<Entry> record_with_symbols(const Wanted& wanted, DimMask& mask, std::string& why,
                                           DimReads::Of of = DimReads::Of::function) {
  const Values& in = wanted.in;
  const DynamicShapes shapes(wanted.options(), in);
  bool refused = true;
  const auto with = [&](DimMask& m) {
    return null_if_refused(why, [&] {
      auto entry = record_symbolic(wanted.context(), wanted.function, in, shapes, m, of);
      refused = false;
      return entry;
    });
  };
  DimMask whole = mask;
  auto found = with(whole);
  if (!refused) return mask = std::move(whole), std::move(found);
  std::set<OneSize> sizes;
  for (size_t leaf = 0; leaf < mask.size(); leaf++)
    for (size_t dim = 0; dim < mask[leaf].size(); dim++)
      if (mask[leaf][dim]) sizes.insert(identify_size(in, leaf, dim));
  if (sizes.size() < 2 || sizes.size() > kMostSizes) return nullptr;
  DimMask kept = make_empty_mask(in);
  for (const OneSize& size : sizes) {
    DimMask more = kept;
    add(more, dims_of_size(in, mask, size));
    auto entry = with(more);
    if (!entry) continue;
    found = std::move(entry);
    kept = std::move(more);
  }
  mask = std::move(kept);
  return found;
}

// Calls f(leaf, dim, mark) for each marked size.
template <class F>
void for_each_mark(const Wanted& wanted, F&& f) {
  for (size_t leaf = 0; leaf < wanted.in.size(); leaf++) {
    const Leaf& l = wanted.in[leaf];
    if (l.kind != ArgKind::value || !l.tensor->concrete()) continue;
    const std::vector<SizeMark> marks = wanted.context().size_marks().marks_of(*l.tensor);
    for (size_t dim = 0; dim < marks.size(); dim++)
      if (marks[dim].kind != SizeMark::Kind::none) f(leaf, dim, marks[dim]);
  }
}

void apply_marks(const Wanted& wanted, DimMask& mask) {
  for_each_mark(wanted, [&](size_t leaf, size_t dim, const SizeMark& mark) {
    mask[leaf][dim] = mark.kind != SizeMark::Kind::fixed && may_vary(wanted.in[leaf], dim);
  });
}

// Throws where a size that is marked to vary is not among those of the mask.
void require_varying(const Wanted& wanted, const DimMask& mask, std::string_view why) {
  for_each_mark(wanted, [&](size_t leaf, size_t dim, const SizeMark& mark) {
    if (mark.kind != SizeMark::Kind::varies || mask[leaf][dim]) return;
    const Leaf& l = wanted.in[leaf];
    const int64_t size = l.tensor->sizes()[dim];
    const std::string reason = size < 2                  ? "0 and 1 are sizes of their own"
                               : !l.tensor->contiguous() ? "its strides are not those of a dense tensor"
                               : !why.empty()            ? std::string(why)
                                              : "the function looks at it as a number, or writes tensors in place";
    fail(Code::failed_precondition, wanted.function.name(), ": dim ", dim, " of input '", wanted.in.paths()[leaf],
         "', ", name(l.tensor->type()), ", is marked to vary and cannot: ", reason,
         "; maybe_mark_dynamic leaves that to the function");
  });
}

std::string list_dims(const Wanted& wanted, const DimMask& mask) {
  const std::vector<std::string> paths = wanted.in.paths();
  std::string out;
  for (size_t leaf = 0; leaf < mask.size(); leaf++)
    for (size_t dim = 0; dim < mask[leaf].size(); dim++)
      if (mask[leaf][dim])
        out += cat(out.empty() ? "" : ", ", wanted.in[leaf].kind == ArgKind::integer ? "" : cat("dim ", dim, " of "),
                   "input '", paths[leaf], "'");
  return out;
}

// Logs which of the sizes that were allowed to vary do.
void log_sizes(const Wanted& wanted, const DimMask& asked, const DimMask& varying, std::string_view why) {
  if (!wanted.context().logs(LogName::dynamic, LogLevel::info)) return;
  DimMask plain = asked;
  for (size_t leaf = 0; leaf < plain.size(); leaf++)
    for (size_t dim = 0; dim < plain[leaf].size(); dim++)
      if (varying[leaf][dim]) plain[leaf][dim] = false;
  const auto say = [&](const DimMask& mask, std::string_view text) {
    if (const std::string all = list_dims(wanted, mask); !all.empty())
      wanted.context().log(LogLevel::info, LogName::dynamic, wanted.function.name(), "", cat(all, text));
  };
  say(varying, ": any size of 2 and more fits");
  say(plain, cat(": a program for this size alone, ",
                 why.empty() ? "as the function looks at it as a number, or writes tensors in place" : why));
}

std::vector<SizeRange> ranges(const Wanted& wanted, const DimMask& mask) {
  std::vector<SizeRange> out;
  for_each_mark(wanted, [&](size_t leaf, size_t dim, const SizeMark& mark) {
    if (mask[leaf][dim]) out.push_back({static_cast<uint32_t>(leaf), static_cast<uint32_t>(dim), mark.min, mark.max});
  });
  return out;
}

}  // namespace

std::unique_ptr<Entry> record_any_size(Context& context, Function& function, const Values& in) {
  DimMask mask = make_full_mask(in);
  std::string why;
  // Integers stay constants: a trace of its own is not told their values at a call.
  for (size_t leaf = 0; leaf < mask.size(); leaf++)
    if (in[leaf].kind == ArgKind::integer) mask[leaf][0] = false;
  const CompileSetup setup{Ref<Context>(&context), make<CompileOptions>()};
  return record_with_symbols({setup, function, in}, mask, why, DimReads::Of::numbers);
}

bool SymbolicProgram::fits(const Values& in) const {
  return guards_hold(*recorded, nullptr) && function->fits(in);
}

namespace {

// What a loaded program has in place of a trace that was recorded here.
std::shared_ptr<Entry> make_loaded_entry(const SavedProgram& p) {
  auto entry = std::make_shared<Entry>();
  if (std::none_of(p.inputs.begin(), p.inputs.end(), [](auto& in) { return in.symbol.has_value(); })) return entry;
  entry->traces.made().push_back(p.trace);
  entry->bindings.resize(p.trace.inputs.size());
  entry->inputs = {p.structure, std::vector<Leaf>(p.inputs.size()), std::vector<Sizes>(p.inputs.size())};
  for (uint32_t leaf = 0; leaf < p.inputs.size(); leaf++) {
    const SavedInput& in = p.inputs[leaf];
    if (in.symbol) entry->integers.push_back({*in.symbol, leaf});
    if (in.argument == SavedInput::kConstant) {
      entry->inputs.leaves[leaf] = in.constant;
      continue;
    }
    entry->bindings[in.argument].leaf = leaf;
    entry->inputs.strides[leaf] = in.strides;
    if (in.value) entry->float_guards.emplace_back(leaf, *in.value);
    entry->leaves++;
  }
  for (size_t i = 0; i < entry->leaves; i++)
    require(p.trace.inputs[i].source == Source::argument, "the arguments of a trace come first");
  entry->conditions = p.conditions, entry->ranges = p.ranges;
  return entry;
}

}  // namespace

std::unique_ptr<Entry> Dynamic::specialise_by_class(const Wanted& wanted, Traced& traced, InterruptCheck& check) {
  for (const auto& c : traced.classes)
    if (auto entry = c->program_for(wanted, check)) return entry;
  if (traced.classes.size() == kMostClasses || traced.alone == kMostAlone) return nullptr;
  SizeClass::Alone alone;
  auto derived = null_if_refused(alone.why, [&] { return SizeClass::derive(wanted, *traced.program, check, alone); });
  traced.alone += (!derived || derived->has_numbers()) && !alone.by_chance;
  if (wanted.context().logs(LogName::dynamic, LogLevel::info))
    wanted.context().log(LogLevel::info, LogName::dynamic, wanted.function.name(), "",
                       derived                      ? cat("lines for all sizes for which ", derived->text())
                       : traced.alone == kMostAlone ? cat("each size is compiled in full: ", alone.why)
                                                    : cat("this size is compiled in full: ", alone.why));
  if (!derived) return nullptr;
  traced.classes.insert(traced.classes.begin(), std::move(derived));
  return traced.classes.front()->program_for(wanted, check);
}

std::unique_ptr<Entry> Dynamic::specialise(const Wanted& wanted, InterruptCheck& check) {
  std::string why;
  for (Traced& traced : programs_) {
    const auto& p = traced.program;
    if (!p->fits(wanted.in)) continue;
    if (auto entry = null_if_refused(why, [&] { return specialise_by_class(wanted, traced, check); })) {
      entry->of = p->recorded;
      return entry;
    }
    const SymbolicInputs symbolic{p->recorded, p->function->programs()[0].formulas};
    auto entry = null_if_refused(why, [&] {
      return compile({wanted.setup, wanted.in, check,
                      recording_of(wanted.context(), *p->function, wanted.in, &symbolic)});
    });
    if (!entry) continue;
    entry->of = p->recorded;
    return entry;
  }
  return nullptr;
}

void Dynamic::add(std::string_view function, const SavedProgram& program) {
  if (used_symbols(program.trace).empty()) return;
  auto made = std::make_shared<SymbolicProgram>();
  made->recorded = make_loaded_entry(program);
  made->function = Ref<SavedFunction>::adopt(new SavedFunction(std::string(function), {program}));
  programs_.push_back({std::move(made)});
}

std::vector<SavedProgram> Dynamic::saved() const {
  std::vector<SavedProgram> out;
  for (const Traced& t : programs_)
    if (guards_hold(*t.program->recorded, nullptr)) out.push_back(t.program->function->programs()[0]);
  return out;
}

bool Dynamic::trace_with_symbols(const Wanted& wanted, const DimMask& mask) {
  SharedSizes sharing = shared_sizes(wanted.in, mask);
  if (!any_dim(mask) || traced_ == kMostTraces || std::find(failed_.begin(), failed_.end(), sharing) != failed_.end())
    return require_varying(wanted, make_empty_mask(wanted.in), ""), false;
  traced_++;
  DimMask varying = mask;
  std::string why;
  auto made = std::make_shared<SymbolicProgram>();
  std::unique_ptr<Entry> entry = record_with_symbols(wanted, varying, why);
  if (entry) entry->ranges = ranges(wanted, varying);
  if (entry)
    made->function = null_if_refused(why, [&] {
      std::vector<SavedProgram> one;
      one.push_back(saved_program(*entry, wanted.context()));
      return Ref<SavedFunction>::adopt(new SavedFunction(wanted.function.name(), std::move(one)));
    });
  if (!made->function) failed_.push_back(std::move(sharing)), varying = make_empty_mask(wanted.in);
  log_sizes(wanted, mask, varying, why);
  require_varying(wanted, varying, why);
  if (!made->function) return false;
  made->recorded = std::move(entry);
  programs_.push_back({std::move(made)});
  return true;
}

std::unique_ptr<Entry> Dynamic::program_for(const Wanted& wanted, DynamicSizes which,
                                            std::span<const Entry* const> kept, InterruptCheck& check) {
  if (auto found = specialise(wanted, check)) return found;
  DimMask mask = which == DynamicSizes::all ? make_full_mask(wanted.in) : make_empty_mask(wanted.in);
  for (size_t i = 0; i < kept.size() && which == DynamicSizes::automatic; i++)
    if (const DimMask varying = varying_dims(*kept[i], wanted.in); !varying.empty()) thunder::add(mask, varying);
  apply_marks(wanted, mask);
  if (const DynamicShapes said(wanted.options(), wanted.in); !said.empty()) thunder::add(mask, said.mask(wanted.in));
  return trace_with_symbols(wanted, mask) ? specialise(wanted, check) : nullptr;
}

}  // namespace thunder
