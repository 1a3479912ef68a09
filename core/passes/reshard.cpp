#include "passes/reshard.h"

#include <algorithm>
#include <map>

#include "ir/prim.h"
#include "ops/world_collectives.h"
#include "passes/rewrite.h"

namespace thunder {
namespace {

bool is_gather(const Node& n) {
  return runs_collective(def(n), Collective::all_gather) && unit_of(n) != 0;
}
bool is_convert(const Node& n) {
  return n.op->id == Prim::convert;
}
// What reads one tensor and may be computed again at each use: views and conversions of what was gathered.
bool is_form(const Node& n) {
  return n.op->prim && n.body.empty() && (def(n).view || is_convert(n));
}

// A gather with what is made of it, in order, and the other lines that read these.
struct Gathered {
  std::vector<size_t> lines;  // the first is the gather's
  std::vector<size_t> uses;   // ascending
  int64_t unit = 0;
  bool again = false;  // rather than kept
  DType read = DType::none;  // in which all uses have it; none: in several
};

class Reshard {
 public:
  Reshard(const Trace& trace, const Registry& registry) : trace_(trace), rewriter_(trace, registry) {}

  std::optional<Trace> run() {
    find();
    std::map<size_t, std::vector<const Gathered*>> again;  // by line
    bool narrow = false;
    for (const Gathered& g : gathered_) {
      narrow = narrow || narrows(g);
      for (size_t i = 1; i < g.uses.size() && g.again; i++)
        if (gathered_between(g, g.uses[i - 1], g.uses[i]) >= bytes_.at(g.unit)) again[g.uses[i]].push_back(&g);
    }
    if (again.empty() && !narrow) return std::nullopt;
    for (size_t i = 0; i < trace_.nodes.size(); i++) {
      for (const Gathered* g : again[i]) gather(*g);
      const Node& n = *trace_.nodes[i];
      if (const size_t g = form_of(n); g == kNone)
        rewriter_.keep(rewriter_.substituted(&n));
      else if (is_gather(n))
        gather(gathered_[g]);
    }
    for (const Gathered* g : again[trace_.nodes.size()]) gather(*g);
    return rewriter_.finish();
  }

 private:
  size_t form_of(const Node& n) const { return n.results.empty() ? kNone : of_[n.results[0]]; }

  void find() {
    of_.assign(trace_.store->size(), kNone);
    for (size_t i = 0; i < trace_.nodes.size(); i++) {
      const Node& n = *trace_.nodes[i];
      if (is_gather(n)) {
        of_[n.results[0]] = gathered_.size();
        gathered_.push_back({{i}, {}, unit_of(n), n.args[3].i != 0});
        bytes_[unit_of(n)] += bytes_of(gathered_.back());
        continue;
      }
      for_each_value(n.args, [&](ValueId v) {
        if (of_[v] == kNone) return;
        if (is_form(n))
          of_[n.results[0]] = of_[v], gathered_[of_[v]].lines.push_back(i);
        else
          note_use(v, i);
      });
    }
    for (ValueId v : trace_.outputs) note_use(v, trace_.nodes.size());
    for (const Write& w : trace_.writes) note_use(w.value, trace_.nodes.size());
  }
  void note_use(ValueId v, size_t line) {
    if (of_[v] == kNone) return;
    Gathered& g = gathered_[of_[v]];
    const DType dtype = trace_.type(v).dtype;
    g.read = g.uses.empty() || g.read == dtype ? dtype : DType::none;
    if (g.uses.empty() || g.uses.back() != line) g.uses.push_back(line);
  }

  // By gathers of other units that are read between two lines.
  int64_t gathered_between(const Gathered& self, size_t begin, size_t end) const {
    int64_t bytes = 0;
    for (const Gathered& g : gathered_) {
      if (g.unit == self.unit) continue;
      const auto use = std::upper_bound(g.uses.begin(), g.uses.end(), begin);
      if (use != g.uses.end() && *use < end) bytes += bytes_of(g);
    }
    return bytes;
  }

  int64_t bytes_of(const Gathered& g) const {
    const TensorType& type = trace_.type(trace_.nodes[g.lines[0]]->results[0]);
    auto out = static_cast<int64_t>(size_of(type.dtype));
    for (Dim d : type.shape) out *= hint(d);
    return out;
  }

  // Whether it is rounded to 16 bits, and then read in that dtype alone.
  bool narrows(const Gathered& g) const {
    const Node& gather = *trace_.nodes[g.lines[0]];
    return g.read != DType::none && is_half(g.read) && !is_half(trace_.type(gather.results[0]).dtype);
  }

  // What reads the values of its lines from here on reads new ones. Those that nothing reads go with dead code.
  void gather(const Gathered& g) {
    std::map<ValueId, ValueId> made;
    const bool narrow = narrows(g);
    for (size_t line : g.lines) {
      const Node& n = *trace_.nodes[line];
      std::vector<Arg> args(n.args.begin(), n.args.end());
      if (const auto form = made.find(args[0].v); form != made.end())
        args[0] = Arg::value(form->second);
      else
        args[0] = rewriter_.substituted(&n)->args[0];
      if (narrow && line == g.lines[0])
        args[0] = Arg::value(rewriter_.build_for(n, [&] {
          return rewriter_.call(Prim::convert, {args[0], g.read});
        }).id);
      // Between two dtypes, one of which it does not have any more.
      const bool same = narrow && is_convert(n) && rewriter_.type(args[0].v).dtype == trace_.type(n.results[0]).dtype;
      const ValueId now = same ? args[0].v : rewriter_.record(def(n), args, n)[0];
      made[n.results[0]] = now;
      rewriter_.replace(n.results[0], now);
    }
  }

  static constexpr size_t kNone = SIZE_MAX;
  const Trace& trace_;
  Rewriter rewriter_;
  std::vector<Gathered> gathered_;
  std::map<int64_t, int64_t> bytes_;  // by unit
  std::vector<size_t> of_;            // by value: the gather that it is a form of
};

}  // namespace

std::optional<Trace> reshard(const Trace& trace, PassContext& context) {
  return Reshard(trace, context.registry).run();
}

}  // namespace thunder
