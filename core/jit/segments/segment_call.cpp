#include "jit/segments/segment_call.h"

#include "base/text.h"
#include "jit/logs/logs.h"
#include "jit/logs/trace_files.h"
#include "jit/run/op_by_op.h"

namespace thunder {

std::unique_ptr<Entry> SegmentCall::record(const Values& in) {
  std::unique_ptr<Entry> entry =
      record_segments(of_.context(), of_.function, in, *this, of_.segments.broken(), results_);
  broken_ = entry == nullptr;
  if (broken_) of_.segments.set_broken();
  return entry;
}

void SegmentCall::take_results(Values& out) {
  make_results_owned(of_.context().allocator(), results_.leaves);
  copy_results_to_bound(of_.function.name(), out, results_.leaves);
  out.assign(std::move(results_.leaves), results_.structure);
}

bool SegmentCall::varies(const char* where, const Op& op, size_t param) {
  return of_.segments.varies(where, op, param);
}

void SegmentCall::broke(GraphBreak at) {
  of_.segments.set_broken();
  of_.context().log(LogLevel::info, LogName::graph_breaks, of_.function.name(), at.where,
                  cat(at.reason, ", after ", at.lines, at.lines == 1 ? " line" : " lines"));
  of_.segments.count_break(std::move(at));
}

Ref<Tensor> SegmentCall::take_random(int64_t draws) {
  Context& context = of_.context();
  const Context::WriteTurn turn(context);
  Ref<Tensor> state = dense_copy(context.allocator(), *context.random());
  reinterpret_cast<int64_t*>(context.random()->data())[1] += draws;
  context.random()->bump();
  return state;
}

Keep SegmentCall::choose_keeping(const ProgramStore::SegmentHash& hash, const std::string& why) const {
  if (!of_.caches()) return Keep::for_one_call;
  const Stance stance = of_.context().stance();
  if (stance == Stance::eager_on_recompile) return Keep::for_one_call;
  require(stance != Stance::fail_on_recompile, of_.function.name(), ": the stance is fail_on_recompile, and ", why);
  const auto segments = static_cast<int64_t>(of_.programs.count_segments());
  const bool full = segments >= of_.settings().accumulated_recompile_limit;
  // As programs of a size are: so many for good, and of all others those used last.
  if (of_.sizes == DynamicSizes::automatic || of_.sizes == DynamicSizes::all)
    if (const auto others = static_cast<int64_t>(of_.programs.count_segments_of_any_size(hash));
        others > 0 && (full || others >= of_.settings().recompile_limit))
      return Keep::recently;
  if (!full) return Keep::for_good;
  bool warned = of_.segments.mark_warned();
  return of_.limits.is_below_limit(RecompileLimits::Of::all, segments, why, "runs op by op", warned)
             ? Keep::for_good
             : Keep::for_one_call;
}

std::shared_ptr<const Entry> SegmentCall::make_program(const Segment& segment, bool& kept) {
  const std::string why =
      cat("no program has the ", segment.trace.nodes.size(), " lines of this segment and fits its inputs");
  const ProgramStore::SegmentHash hash = hash_of(segment);
  const Keep keep = choose_keeping(hash, why);
  kept = keep == Keep::for_good;
  of_.programs.for_each_segment([&](const Entry& e) { of_.segments.note_varying_numbers(e.traces.front(), segment); });
  const bool least = keep == Keep::for_one_call && of_.caches();
  const Values values = values_of(segment);
  std::shared_ptr<Entry> entry = compile(
      {of_.setup, values, check_, recording_of(segment, values), least ? Effort::least : Effort::full});
  of_.log.add_compile(*entry, why);
  SmallVector<Tensor*, 8> tensors;
  for (const Ref<Tensor>& t : segment.inputs) tensors.push_back(t.get());
  const Inputs in{nullptr, tensors.data(), tensors.size()};
  entry->key = Key(in);
  of_.programs.insert_segment(hash, in, entry, keep);
  log_compiled(of_.context(), *entry, why, of_.log.misses() > 1);
  write_trace_files(of_.context(), of_.settings(), *entry);
  of_.log.set_latest(entry);
  return entry;
}

std::vector<Ref<Tensor>> SegmentCall::run(Segment& segment) {
  SmallVector<Tensor*, 8> tensors;
  for (const Ref<Tensor>& t : segment.inputs) tensors.push_back(t.get());
  const Inputs in{nullptr, tensors.data(), tensors.size()};
  bool kept = true;
  std::shared_ptr<const Entry> entry = of_.segments.find_followed(segment, in);
  if (!entry)
    entry = of_.programs.find_segment(hash_with_sizes(segment), in,
                                      [&](const Entry& e) { return has_lines_of(e, segment, in); }, kept);
  if (!entry) {
    // Passes add to the store.
    if (segment.followed)
      segment.trace.store = Store::make_continuation(segment.trace.store, segment.trace.store->size());
    entry = make_program(segment, kept);
  }
  segment.followed = kept ? of_.segments.keep_script(segment, entry) : nullptr;
  ResultTensors results;
  if (Status* failed = of_.runner.run(*entry, in, nullptr, results, check_, stream_))
    throw Error(Ref<Status>::adopt(failed));
  std::vector<Ref<Tensor>> made;
  for (size_t i = 0; i < segment.trace.outputs.size(); i++) made.push_back(results.take(i));
  return made;
}

}  // namespace thunder
