// Vectorised accesses: a thread loads and stores 16 bytes of neighbouring elements, around a loop over the elements.
#include "loops/cuda/arithmetic.h"
#include "loops/cuda/writer.h"

namespace thunder::loops {

std::string Writer::pack_count(const std::string& elements) const {
  return schedule_.pack > 1 ? cat("(", elements, ") / ", schedule_.pack) : elements;
}

// Arguments may begin anywhere; then packs are read and written element by element.
void Writer::declare_alignment() {
  if (schedule_.pack == 1) return;
  std::vector<bool> packed(nest_.buffers.size());
  for (ExprId id = 0; id < nest_.exprs.size(); id++)
    if (schedule_.packed_loads[id]) packed[nest_.exprs[id].buffer] = true;
  for (size_t k = 0; k < nest_.stores.size(); k++)
    if (schedule_.packed_stores[k]) packed[nest_.stores[k].buffer] = true;
  std::string all;
  for (size_t b = 0; b < packed.size(); b++)
    if (packed[b]) all += cat(all.empty() ? "" : " | ", "(u64)b.at[", b, "]");
  line("const bool aligned = ((", all, ") & 15) == 0;");
}

// What an expression needs, except what is known for the whole row, and when: where a select of whole packs chooses it.
// What other selects choose is not looked at.
void Writer::collect_needed(ExprId id, const std::string& when, Guards& needed) const {
  if (!row_[id].empty() || needed[id] == kAlways || needed[id].find(when) != std::string::npos) return;
  needed[id] = needed[id].empty() || when == kAlways ? when : cat("(", needed[id], " || ", when, ")");
  const Expr& e = nest_.exprs[id];
  if (e.fn == Fn::gather) return collect_needed(e.in[1], when, needed);
  if (e.fn == Fn::select && !is_uniform(nest_, schedule_, e)) return;
  for (uint32_t i = 0; i < e.count; i++) {
    const std::string chosen = cat(i ? "!" : "", "first", id);
    const std::string both = when == kAlways ? chosen : cat("(", when, " && ", chosen, ")");
    collect_needed(e.in[i], e.fn == Fn::select ? both : when, needed);
  }
}

Writer::Guards Writer::exprs_needed_by(const std::vector<ExprId>& sums, const Wanted& wanted) const {
  Guards needed(nest_.exprs.size());
  for (ExprId id : sums)
    for (uint32_t i = 0; i < nest_.exprs[id].count; i++) collect_needed(nest_.exprs[id].in[i], kAlways, needed);
  for (const Output& s : nest_.stores)
    if (wanted(s) && s.only.empty()) collect_needed(s.value, kAlways, needed);
  return needed;
}

// The computation at one position along these axes, or at each position of a pack. Inside a loop over `at`.
void Writer::compute_positions(uint32_t begin, uint32_t end, const std::vector<ExprId>& sums, const Wanted& wanted) {
  delinearize(schedule_.pack > 1 && !columns_ ? cat("at * ", schedule_.pack) : "at", begin, end);
  compute_pack(sums, wanted);
}

void Writer::compute_pack(const std::vector<ExprId>& sums, const Wanted& wanted) {
  const auto compute = [&] {
    for (ExprId id : sums) {
      const std::string now = reduced_element(id);
      line(sum(id), " = ", combined_text(nest_.exprs[id], sum(id), now), ";");
    }
    store_all(wanted);
  };
  if (schedule_.pack == 1 && !columns_) return compute();
  const Guards needed = exprs_needed_by(sums, wanted);
  uniform_selects_.assign(nest_.exprs.size(), false);
  for (ExprId id = 0; id < needed.size(); id++)
    if (const Expr& e = nest_.exprs[id]; e.fn == Fn::select && !needed[id].empty() && is_uniform(nest_, schedule_, e)) {
      line("const bool first", id, " = ", index_[e.axis], " < ", cuts_.at({e.axis, e.bound}), ";");
      uniform_selects_[id] = true;
    }
  for (ExprId id = 0; id < needed.size(); id++)
    if (!needed[id].empty() && !loaded_[id] && is_packed(id)) load_pack(id, needed[id]);
  declare_packs(wanted);
  for_each_in_pack(compute);
  loaded_ = of_columns_, uniform_selects_.assign(nest_.exprs.size(), false);
  store_packs(wanted);
}

// What `write` writes, for each position of the pack, which is number v. Neighbours share the words of a draw.
void Writer::for_each_in_pack(const std::function<void()>& write) {
  const uint32_t axis = pack_axis(nest_, schedule_);
  const std::string first = index_[axis];
  in_pack_ = true;
  for (ExprId id = 0; id < nest_.exprs.size(); id++)
    if (nest_.exprs[id].fn == Fn::uniform) line("Draws draws", id, ";");
  line("#pragma unroll");
  line("for (int v = 0; v < ", schedule_.pack, "; v++) {");
  in_own_scope([&] {
    line("const place ", first, "v = ", first, " + v;");
    index_[axis] = first + "v";
    write();
  });
  in_pack_ = false, index_[axis] = first;
}

// Values that are constant along the columns are read before the loop, because the compiler may not move such loads
// over the stores.
void Writer::load_columns() {
  of_columns_.assign(nest_.exprs.size(), false), loaded_ = of_columns_;
  std::vector<ExprId> sums;
  for (ExprId id = 0; id < nest_.exprs.size(); id++)
    if (is_reduction(nest_.exprs[id].fn)) sums.push_back(id);
  const Guards needed = exprs_needed_by(sums, [](const Output&) { return true; });
  for (ExprId id = 0; id < needed.size(); id++)
    if (needed[id] == kAlways && nest_.is_row(id) && is_packed(id)) load_pack(id, kAlways);
  of_columns_ = loaded_;
}

bool Writer::is_packed(ExprId id) const {
  return schedule_.pack > 1 && nest_.exprs[id].fn == Fn::load && schedule_.packed_loads[id];
}

std::string Writer::pack_type(ExprId load) const {
  return cat("Pack<", memory_type_name(nest_.buffers[nest_.exprs[load].buffer]), ", ", schedule_.pack, ">");
}

std::string Writer::load_pack_text(ExprId id) const {
  const Expr& e = nest_.exprs[id];
  const std::string type = memory_type_name(nest_.buffers[e.buffer]), more = e.offset ? " + " + offsets_[id] : "";
  return cat("load_pack<", type, ", ", schedule_.pack, ">((const ", type, "*)b.at[", e.buffer, "] + (",
             offset_text(e.map), more, "), aligned)");
}

// A thread reads from shared memory only what it wrote itself, so no barrier is needed.
void Writer::load_pack(ExprId id, const std::string& when) {
  loaded_[id] = true, guarded_[id] = when != kAlways;
  if (keeps(Keep::registers, id)) return;
  if (when != kAlways) {
    line(pack_type(id), " pack", id, ";");
    line("if (", when, ") pack", id, " = ", load_pack_text(id), ";");
    return;
  }
  const bool shared = keeps(Keep::shared, id), known = in_shared_[id];
  line("const ", pack_type(id), " pack", id, " = ", known ? cat("kept", id, "[at]") : load_pack_text(id), ";");
  if (shared && !known) line("kept", id, "[at] = pack", id, ";"), in_shared_[id] = true;
}

// Declares the shared memory for packs of a row. Each warp has a row of its own.
void Writer::declare_kept_row() {
  if (schedule_.keep != Keep::shared) return;
  const std::string packs = pack_count(extent_product(nest_.outer, nest_.outer + nest_.inner));
  size_t all = 0, before = 0;
  const auto each = [this](auto&& see) {
    for (ExprId id = 0; id < nest_.exprs.size(); id++)
      if (keeps(Keep::shared, id)) see(id, schedule_.pack * size_of(nest_.buffers[nest_.exprs[id].buffer]));
  };
  each([&](ExprId, size_t bytes) { all += bytes; });
  const std::string row = rows_ == Rows::warp ? cat("threadIdx.x / ", kWarp, " * ", all, " + ") : "";
  each([&](ExprId id, size_t bytes) {
    line(pack_type(id), "* const kept", id, " = (", pack_type(id), "*)(kept + (", row, before, ") * (", packs, "));");
    before += bytes;
  });
}

// The packs of a row that a thread takes, by numbers that are known when the kernel is compiled.
void Writer::open_trip_loop() {
  const int each = schedule_.threads_of_row();
  line("#pragma unroll");
  line("for (int trip = 0; trip < ", schedule_.trips, "; trip++) {");
  indent();
  line("const place at = trip * ", each, " + threadIdx.x", rows_ == Rows::block ? "" : cat(" % ", each), ";");
  line("if (at < ", pack_count(extent_product(nest_.outer, nest_.outer + nest_.inner)), ") {");
  indent();
}

// Values that several passes read, in registers.
void Writer::load_kept_row() {
  if (schedule_.keep != Keep::registers) return;
  const auto each = [this](auto&& write) {
    for (ExprId id = 0; id < nest_.exprs.size(); id++)
      if (keeps(Keep::registers, id)) write(id);
  };
  each([this](ExprId id) { line(pack_type(id), " pack", id, "[", schedule_.trips, "];"); });
  open_trip_loop();
  delinearize(cat("at * ", schedule_.pack), nest_.outer, nest_.outer + nest_.inner);
  each([this](ExprId id) { line("pack", id, "[trip] = ", load_pack_text(id), ";"); });
  close_block(), close_block();
}

void Writer::declare_packs(const Wanted& wanted) {
  for (size_t k = 0; k < nest_.stores.size(); k++)
    if (const Output& s = nest_.stores[k]; schedule_.pack > 1 && schedule_.packed_stores[k] && wanted(s))
      line("Pack<", memory_type_name(nest_.buffers[s.buffer]), ", ", schedule_.pack, "> out", k, ";");
}

void Writer::store_packs(const Wanted& wanted) {
  for (size_t k = 0; k < nest_.stores.size(); k++) {
    const Output& s = nest_.stores[k];
    if (schedule_.pack == 1 || !schedule_.packed_stores[k] || !wanted(s)) continue;
    const std::string type = memory_type_name(nest_.buffers[s.buffer]);
    line("store_pack<", type, ", ", schedule_.pack, ">((", type, "*)b.at[", s.buffer, "] + (", offset_text(s.map),
         store_offsets_[k].empty() ? "" : " + " + store_offsets_[k], "), out", k, ", aligned);");
  }
}

}  // namespace thunder::loops
