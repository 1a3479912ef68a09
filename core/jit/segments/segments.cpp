#include "jit/segments/segments.h"

#include <algorithm>

#include "base/hash.h"

namespace thunder {
namespace {

// A hash that is the same for all sizes, and for integers that lines may have from sizes.
uint64_t hash_for_any_size(const Segment& segment) {
  uint64_t h = segment.inputs.size();
  for (const Input& in : segment.trace.inputs) {
    const TensorType& type = segment.trace.type(in.value);
    h = mix(mix(h, static_cast<uint64_t>(type.dtype) << 32 | static_cast<uint32_t>(type.device)), type.rank());
  }
  for (const Node* n : segment.trace.nodes) {
    h = mix(h, reinterpret_cast<uintptr_t>(n->op));
    for (const Arg& a : n->args) {
      const bool size = a.kind == ArgKind::dims || a.kind == ArgKind::integer;
      h = size ? mix(h, static_cast<uint64_t>(a.kind) << 32 | a.count) : hash(a, h);
    }
  }
  for (ValueId v : segment.trace.outputs) h = mix(h, v);
  return h;
}

class WithoutReads : public Function {
 public:
  explicit WithoutReads(Ref<Function> f) : Function(f->name()), f_(std::move(f)) {}
  Ref<Status> call(Scope& scope, const Values& in, Values& out) override {
    if (auto* tracing = dynamic_cast<TracingScope*>(&scope)) tracing->let_reads_fail();
    return f_->call(scope, in, out);
  }

 private:
  Ref<Function> f_;
};

uint64_t key_of_parameter(const char* where, const Op& op, size_t param) {
  return mix(mix(hash_text(where ? where : ""), reinterpret_cast<uintptr_t>(&op)), param);
}

// Whether the lines are the same but for numbers that stand for tensors; these are added to `found`.
bool differ_only_in_numbers(const Trace& a, const Trace& b, std::vector<uint64_t>& found) {
  if (a.nodes.size() != b.nodes.size() || a.outputs != b.outputs) return false;
  for (size_t i = 0; i < a.nodes.size(); i++) {
    const Node &x = *a.nodes[i], &y = *b.nodes[i];
    if (x.op != y.op || x.args.size() != y.args.size()) return false;
    for (size_t k = 0; k < x.args.size(); k++) {
      if (same(x.args[k], y.args[k])) continue;
      const Param& p = x.op->schema.params[k];
      const bool number = p.kind == ParamKind::tensor && p.number && is_number(x.args[k]) && is_number(y.args[k]) &&
                          !def(x).has(kCounts);
      if (!number) return false;
      found.push_back(key_of_parameter(y.where, *y.op, k));
    }
  }
  return !found.empty();
}

// Values are numbered as they are made, so that equal lines have equal numbers.
bool same_line(const Node& a, const Node& b) {
  return a.op == b.op &&
         std::equal(a.args.begin(), a.args.end(), b.args.begin(), b.args.end(),
                    [](auto& x, auto& y) { return same(x, y); }) &&
         std::equal(a.results.begin(), a.results.end(), b.results.begin(), b.results.end()) &&
         std::equal(a.body.begin(), a.body.end(), b.body.begin(), b.body.end(),
                    [](auto* x, auto* y) { return same_line(*x, *y); });
}

bool same_writes(const Trace& a, const Trace& b) {
  const auto same = [](const Write& x, const Write& y) { return x.input == y.input && x.value == y.value; };
  return std::equal(a.writes.begin(), a.writes.end(), b.writes.begin(), b.writes.end(), same);
}

bool same_lines(const Trace& a, const Trace& b) {
  const auto inputs = [&](const Input& x, const Input& y) {
    return x.value == y.value && a.type(x.value) == b.type(y.value);
  };
  return std::equal(a.inputs.begin(), a.inputs.end(), b.inputs.begin(), b.inputs.end(), inputs) &&
         a.outputs == b.outputs && same_writes(a, b) &&
         std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
                    [](auto* x, auto* y) { return same_line(*x, *y); });
}

}  // namespace

Ref<Function> without_reads(Ref<Function> f) {
  return Ref<Function>::adopt(new WithoutReads(std::move(f)));
}

uint64_t hash_with_sizes(const Segment& segment) {
  uint64_t h = segment.inputs.size();
  for (const Input& in : segment.trace.inputs) h = mix(h, hash(segment.trace.type(in.value)));
  for (const Node* n : segment.trace.nodes) {
    h = mix(h, reinterpret_cast<uintptr_t>(n->op));
    for (const Arg& a : n->args) h = hash(a, h);
  }
  for (ValueId v : segment.trace.outputs) h = mix(h, v);
  return h;
}

ProgramStore::SegmentHash hash_of(const Segment& segment) {
  return {hash_with_sizes(segment), hash_for_any_size(segment)};
}

bool has_lines_of(const Entry& program, const Segment& segment, const Inputs& in) {
  return program.key.matches(in) && same_lines(program.traces.front(), segment.trace);
}

std::shared_ptr<const Entry> Segments::find_followed(const Segment& segment, const Inputs& in) const {
  if (!segment.followed) return nullptr;
  std::lock_guard lock(mutex_);
  const Trace& now = segment.trace;
  for (const auto& entry : static_cast<const KeptScript&>(*segment.followed).entries) {
    const Trace& then = entry->traces.front();
    if (then.outputs == now.outputs && same_writes(then, now) && entry->key.matches(in)) return entry;
  }
  return nullptr;
}

std::shared_ptr<const SegmentScripts> Segments::scripts_after(const SegmentScript* segment) const {
  std::lock_guard lock(mutex_);
  return segment ? static_cast<const KeptScript*>(segment)->next : first_;
}

const SegmentScript* Segments::keep_script(Segment& segment, const std::shared_ptr<const Entry>& entry) {
  std::lock_guard lock(mutex_);
  if (segment.followed) {
    auto& entries = const_cast<KeptScript&>(static_cast<const KeptScript&>(*segment.followed)).entries;
    if (std::find(entries.begin(), entries.end(), entry) == entries.end()) entries.push_back(entry);
    return segment.followed;
  }
  if (!segment.recorded) return nullptr;
  const SegmentScript* const script = script_of(*segment.recorded, entry);
  if (!script || !segment.has_place) return script;
  auto& place = segment.after ? const_cast<KeptScript&>(static_cast<const KeptScript&>(*segment.after)).next : first_;
  if (place && place->size() == kMostInOnePlace) return script;
  auto more = std::make_shared<SegmentScripts>(1, script);
  if (place) more->insert(more->end(), place->begin(), place->end());
  place = std::move(more);
  return script;
}

// One that is kept and the same, so that the rounds of a loop have one between them; else this one. Null: they are too
// many.
const SegmentScript* Segments::script_of(SegmentScript& recorded, const std::shared_ptr<const Entry>& entry) {
  for (const KeptScript& s : scripts_)
    if (std::find(s.entries.begin(), s.entries.end(), entry) != s.entries.end() && same_script(s, recorded)) return &s;
  if (scripts_.size() == kMostScripts) return nullptr;
  scripts_.emplace_back(std::move(recorded)).entries.push_back(entry);
  return &scripts_.back();
}

void Segments::note_varying_numbers(const Trace& kept, const Segment& segment) {
  std::vector<uint64_t> found;
  if (!differ_only_in_numbers(kept, segment.trace, found)) return;
  std::lock_guard lock(mutex_);
  numbers_.insert(found.begin(), found.end());
  any_number_.store(true, std::memory_order_release);
}

bool Segments::varies(const char* where, const Op& op, size_t param) const {
  if (!any_number_.load(std::memory_order_acquire)) return false;
  std::lock_guard lock(mutex_);
  return numbers_.count(key_of_parameter(where, op, param)) != 0;
}

void Segments::count_break(GraphBreak at) {
  std::lock_guard lock(mutex_);
  for (CountedBreak& known : breaks_)
    if (known.at.where == at.where && known.at.reason == at.reason) return void(known.times++);
  if (breaks_.size() < kMostBreaks) breaks_.push_back({std::move(at), 1});
}

std::vector<CountedBreak> Segments::breaks() const {
  std::lock_guard lock(mutex_);
  return breaks_;
}

}  // namespace thunder
