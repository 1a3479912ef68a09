#include "jit/segments/segment_call.h"

#include "base/text.h"
#include "jit/reports/logs.h"
#include "jit/own_results.h"

namespace thunder {

std::unique_ptr<Entry> SegmentCall::record(const Values& in) {
  std::unique_ptr<Entry> entry =
      record_segments(*of_.context_, *of_.function_, in, *this, of_.segments_->broken(), results_);
  broken_ = entry == nullptr;
  if (broken_) of_.segments_->set_broken();
  return entry;
}

void SegmentCall::take_results(Values& out) {
  own_results(of_.context_->allocator(), results_.leaves);
  bind_results(of_.function_->name(), out, results_.leaves);
  out.assign(std::move(results_.leaves), results_.structure);
}

bool SegmentCall::varies(const char* where, const Op& op, size_t param) {
  return of_.segments_->varies(where, op, param);
}

void SegmentCall::broke(GraphBreak at) {
  of_.segments_->set_broken();
  of_.context_->log(LogLevel::info, LogName::graph_breaks, of_.function_->name(), at.where,
                    cat(at.reason, ", after ", at.lines, at.lines == 1 ? " line" : " lines"));
  of_.segments_->note(std::move(at));
}

Ref<Tensor> SegmentCall::take_random(int64_t draws) {
  Context& context = *of_.context_;
  const Context::WriteTurn turn(context);
  Ref<Tensor> state = dense_copy(context.allocator(), *context.random());
  reinterpret_cast<int64_t*>(context.random()->data())[1] += draws;
  context.random()->bump();
  return state;
}

SegmentCall::Kept SegmentCall::kept(const Segment& segment, const std::string& why) const {
  const CallSettings& settings = of_.settings_;
  if (settings.cache == CacheMode::no_caching) return Kept::no;
  const Stance stance = of_.context_->stance();
  if (stance == Stance::eager_on_recompile) return Kept::no;
  require(stance != Stance::fail_on_recompile, of_.function_->name(), ": the stance is fail_on_recompile, and ", why);
  const auto segments = static_cast<int64_t>(of_.segments_->size());
  const bool full = segments >= settings.accumulated_limit;
  // As programs of a size are: so many for good, and of all others those used last.
  if (settings.dynamic == DynamicSizes::automatic || settings.dynamic == DynamicSizes::all)
    if (const auto others = static_cast<int64_t>(of_.segments_->of_other_sizes(segment));
        others > 0 && (full || others >= settings.recompile_limit))
      return Kept::recently;
  if (!full) return Kept::for_good;
  bool warned = of_.segments_->warn();
  return of_.below(segments, settings.accumulated_limit, "accumulated_recompile_limit", why, "runs op by op", warned)
             ? Kept::for_good
             : Kept::no;
}

std::shared_ptr<const Entry> SegmentCall::compile(const Segment& segment, bool& kept) {
  const std::string why =
      cat("no program has the ", segment.trace.nodes.size(), " lines of this segment and fits its inputs");
  const Kept how = this->kept(segment, why);
  kept = how == Kept::for_good;
  of_.segments_->note_numbers(segment);
  const bool least = how == Kept::no && of_.settings_.cache != CacheMode::no_caching;
  const Effort effort = least ? Effort::least : Effort::full;
  std::shared_ptr<Entry> entry = compile_segment(*of_.context_, *of_.options_, segment, effort, check_);
  of_.note_compiled(*entry, why);
  SmallVector<Tensor*, 8> tensors;
  for (const Ref<Tensor>& t : segment.inputs) tensors.push_back(t.get());
  entry->key = Key({nullptr, tensors.data(), tensors.size()});
  if (kept) of_.segments_->insert(segment, entry);
  if (how == Kept::recently) of_.segments_->insert_recent(entry);
  log_compiled(*of_.context_, *entry, why, of_.misses_ > 1);
  std::lock_guard report(of_.report_mutex_);
  of_.last_ = entry;
  return entry;
}

std::vector<Ref<Tensor>> SegmentCall::run(Segment& segment) {
  SmallVector<Tensor*, 8> tensors;
  for (const Ref<Tensor>& t : segment.inputs) tensors.push_back(t.get());
  const Inputs in{nullptr, tensors.data(), tensors.size()};
  bool kept = true;
  std::shared_ptr<const Entry> entry = of_.segments_->find(segment, in, kept);
  if (!entry) {
    // Passes add to the store.
    if (segment.followed) segment.trace.store = Store::continued(segment.trace.store, segment.trace.store->size());
    entry = compile(segment, kept);
  }
  segment.followed = kept ? of_.segments_->keep_script(segment, entry) : nullptr;
  ResultTensors results;
  if (Status* failed = of_.run(*entry, in, nullptr, results, check_, stream_)) throw Error(Ref<Status>::adopt(failed));
  std::vector<Ref<Tensor>> made;
  for (size_t i = 0; i < segment.trace.outputs.size(); i++) made.push_back(results.take(i));
  return made;
}

const Entry* Compiled::miss_segmented(const Values& in, Values& out, std::shared_ptr<const Entry>& own,
                                      InterruptCheck& check, void* stream, bool& done) {
  SegmentCall call(*this, check, stream);
  const Inputs inputs{&in, nullptr, in.size()};
  const Entry* found = nullptr;
  if (!segments_->broken()) {
    found = miss(inputs, own, check, &call);
  } else {
    check_inputs(inputs);
    const Stance stance = context_->stance();
    if (settings_.disable || stance == Stance::force_eager ||
        (stance == Stance::eager_then_compile && stays_eager(inputs)))
      return nullptr;
    call.record(in);
  }
  if (!call.broken()) return found;
  apart_++;
  call.take_results(out);
  done = true;
  return nullptr;
}

}  // namespace thunder
