#include "loops/cuda/source.h"

#include <algorithm>

#include "loops/cuda/arithmetic.h"
#include "loops/cuda/prelude.h"
#include "loops/cuda/writer.h"
#include "loops/kernel_name.h"
#include "loops/order.h"

namespace thunder::loops {
namespace {

constexpr const char* kOneThread = "if (threadIdx.x == 0) {";

}  // namespace

Writer::Writer(const Nest& nest, const CudaSchedule& schedule, const std::string& name)
    : nest_(nest),
      schedule_(schedule),
      name_(name),
      rows_(schedule.rows),
      index_(nest.axes()),
      loaded_(nest.exprs.size()),
      guarded_(nest.exprs.size()),
      of_columns_(nest.exprs.size()),
      uniform_selects_(nest.exprs.size()),
      in_shared_(nest.exprs.size()) {
  size_t next = nest.axes();
  for (const Map& map : nest.maps) {
    strides_.emplace_back();
    for (int64_t stride : map)
      strides_.back().push_back(stride_kind(stride) == StrideKind::any ? parameter(next++) : stride ? "1" : "");
  }
  // The offset of `uniform` numbers a draw rather than an element, so that it stays 64 bits wide.
  for (const Expr& e : nest.exprs)
    offsets_.push_back(!has_parameter(e) ? "" : e.fn == Fn::uniform ? cat("p.at[", next++, "]") : parameter(next++));
  for (const Output& s : nest.stores) store_offsets_.push_back(s.offset ? parameter(next++) : "");
  for (uint32_t a = 0; a < nest.axes(); a++)
    for (int64_t at : nest.cuts(a)) cuts_[{a, at}] = parameter(next++);
  parameters_ = next;
  for (size_t b = 0; b < nest.buffers.size(); b++) numbers_.push_back(is_host_scalar(b) ? count_of_numbers_++ : 0);
}

std::string Writer::run() {
  const bool joins_lanes = has_reductions(nest_) && (rows_ == Rows::warp || rows_ == Rows::block);
  out_ = cat(kCudaNarrowReals, kCudaPrelude, joins_lanes ? kCudaRowsPrelude : "",
             schedule_.keep == Keep::shared ? kCudaKeptPrelude : "", needs_group_reduction() ? kCudaColumnsPrelude : "",
             "\ntypedef ", schedule_.narrow ? "int" : "i64",
             " place;\nstruct Buffers { void* at[", nest_.buffers.size(), "]; };\nstruct Parameters { i64 at[",
             parameters_ + 1, "]; };\nstruct Numbers { i64 at[", std::max<size_t>(1, 2 * count_of_numbers_),
             "]; };\n");
  if (schedule_.joined) begin_joined_kernel(name_);
  else begin_kernel(name_);
  if (!has_reductions(nest_)) write_elements_kernel();
  else if (rows_ == Rows::column) write_column_tiles();
  else if (schedule_.split()) write_row_parts_kernel();
  else write_rows_kernel();
  out_ += "}\n";
  if (!schedule_.split()) return out_;
  begin_kernel(name_ + "_finish");
  write_finish_kernel();
  return out_ + "}\n";
}

void Writer::begin_kernel(const std::string& name) {
  const std::string bounds =
      schedule_.threads == kCudaThreads ? "" : cat("__launch_bounds__(", schedule_.threads, ") ");
  out_ += cat("\nextern \"C\" __global__ ", bounds, "void ", name,
              "(const Buffers b, const Parameters p, const Numbers n, DeviceAssertion* assertion, char* scratch) {\n");
}

std::string Writer::extent_product(uint32_t begin, uint32_t end) const {
  std::string all = "(place)1";
  for (uint32_t a = begin; a < end; a++) all += cat(" * ", parameter(a));
  return all;
}

// The indices of the axes from a position among them; the last one runs fastest.
void Writer::delinearize(const std::string& position, uint32_t begin, uint32_t end) {
  line("place rest", begin, " = ", position, ";");
  for (uint32_t a = end; a-- > begin;) {
    index_[a] = cat("i", a);
    if (a == begin) {
      line("const place i", a, " = rest", begin, ";");
      continue;
    }
    line("const place next", a, " = rest", begin, " / (", parameter(a), "), i", a, " = rest", begin, " - next", a,
         " * (", parameter(a), ");");
    line("rest", begin, " = next", a, ";");
  }
}

void Writer::write_elements_kernel() {
  const uint32_t axes = nest_.outer + nest_.inner;
  const auto all = [](const Output&) { return true; };
  row_.assign(nest_.exprs.size(), ""), position_ = row_;
  // Values that are the same for all elements are read before the loop, because the compiler may not move it over the
  // stores.
  const Guards needed = exprs_needed_by({}, all);
  for (ExprId id = 0; id < needed.size(); id++)
    if (needed[id] == kAlways && !nest_.exprs[id].axes && nest_.exprs[id].fn == Fn::load) emit_value(id);
  declare_alignment();
  const bool joined = schedule_.joined != 0;
  line("for (place at = ", joined ? "((place)blockIdx.x - first)" : "blockIdx.x",
       " * (place)blockDim.x + threadIdx.x; at < ", pack_count(extent_product(0, axes)), "; at += ",
       joined ? "blocks" : "(place)gridDim.x", " * blockDim.x) {");
  indent();
  compute_positions(0, axes, {}, all);
  close_block();
}

// The loop over rows, or parts of rows: one for each block, warp or thread.
void Writer::open_rows(const std::string& count) {
  declare_alignment();
  if (rows_ == Rows::block) {
    // The partial result of a warp is at most a number and an index.
    line("__shared__ i64 shared[", 2 * schedule_.threads / kWarp, "];");
    line("for (place work = blockIdx.x; work < ", count, "; work += gridDim.x) {");
  } else {
    const std::string each = rows_ == Rows::warp ? cat(" / ", kWarp) : "";
    line("for (place work = (blockIdx.x * (place)blockDim.x + threadIdx.x)", each, "; work < ", count,
         "; work += (place)gridDim.x * blockDim.x", each, ") {");
  }
  indent();
}

void Writer::write_rows_kernel() {
  declare_kept_row();
  open_rows(extent_product(0, nest_.outer));
  delinearize("work", 0, nest_.outer);
  row_.assign(nest_.exprs.size(), "");
  load_kept_row();
  for (uint32_t pass = 0; pass < nest_.passes; pass++) write_pass(pass);
  store_rows(rows_ != Rows::thread);
  close_block();
}

// The first of two kernels, which reduces each part of a row. The second one combines the parts in their order.
void Writer::write_row_parts_kernel() {
  const std::vector<ExprId> sums = reductions_of_pass(0);
  line("const place rows = ", extent_product(0, nest_.outer),
       ", columns = ", extent_product(nest_.outer, nest_.outer + nest_.inner), ", parts = ", parameter(parameters_),
       ";");
  line("const place each = (columns + parts - 1) / parts",
       schedule_.pack > 1 ? cat(" + ", schedule_.pack - 1, " & -", schedule_.pack) : "", ";");
  open_rows("rows * parts");
  line(
      "const place row = work % rows, part = work / rows, begin = part * each, end = begin + each < columns ? begin + "
      "each : columns;");
  delinearize("row", 0, nest_.outer);
  row_.assign(nest_.exprs.size(), "");
  compute_row_values(0);
  write_row_loop(sums, "begin", "end", 0);
  for (ExprId id : sums) reduce_threads(id);
  const bool by_one = rows_ != Rows::thread;
  if (by_one) line(kOneThread), indent();
  for (size_t k = 0; k < sums.size(); k++) line(partial_address(k, sums[k], "part", "row"), " = sum", sums[k], ";");
  if (by_one) close_block();
  close_block();
}

void Writer::store_rows(bool by_one_thread) {
  compute_row_values(nest_.passes);
  if (by_one_thread) line(rows_ == Rows::warp ? "if (threadIdx.x % 32 == 0) {" : kOneThread), indent();
  store_all([this](const Output& s) { return nest_.is_row(s); });
  if (by_one_thread) close_block();
}

// Values of the row that are known before this pass are computed before its loop.
void Writer::compute_row_values(uint32_t pass) {
  const AxisSet walked = nest_.outer_set();
  for (ExprId id = 0; id < nest_.exprs.size(); id++)
    if (!(nest_.exprs[id].axes & ~walked) && nest_.exprs[id].level <= pass && !is_reduction(nest_.exprs[id].fn))
      emit_value(id);
}

std::vector<ExprId> Writer::reductions_of_pass(uint32_t pass) const {
  std::vector<ExprId> sums;
  for (ExprId id = 0; id < nest_.exprs.size(); id++)
    if (is_reduction(nest_.exprs[id].fn) && nest_.exprs[id].level == pass + 1) sums.push_back(id);
  return sums;
}

void Writer::write_pass(uint32_t pass) {
  const std::vector<ExprId> sums = reductions_of_pass(pass);
  const auto stored = [&](const Output& s) { return !nest_.is_row(s) && nest_.exprs[s.value].level == pass; };
  if (sums.empty() && std::none_of(nest_.stores.begin(), nest_.stores.end(), stored)) return;
  if (columns_) {
    write_row_loop(sums, "begin", "end", pass);
  } else {
    compute_row_values(pass);
    write_row_loop(sums, "0", extent_product(nest_.outer, nest_.outer + nest_.inner), pass);
  }
  for (ExprId id : sums) {
    reduce_threads(id);
    if (!schedule_.split()) finish_reduction(id);
  }
}

// The inner axes from `begin` to `end`, in packs: the sums so far, and the stores of this pass.
void Writer::write_row_loop(const std::vector<ExprId>& sums, const std::string& begin, const std::string& end,
                            uint32_t pass) {
  declare_sums(sums);
  const std::string first = begin == "0" || columns_ ? begin : pack_count(begin),
                    last = columns_ ? end : pack_count(end);
  if (schedule_.keep == Keep::registers) open_trip_loop();
  else if (columns_)
    line("for (place at = ", first, " + threadIdx.x / ", schedule_.lanes, "; at < ", last, "; at += ",
         schedule_.groups(), ") {");
  else if (rows_ == Rows::thread) line("for (place at = ", first, "; at < ", last, "; at++) {");
  else if (rows_ == Rows::warp)
    line("for (place at = ", first, " + threadIdx.x % ", kWarp, "; at < ", last, "; at += ", kWarp, ") {");
  else line("for (place at = ", first, " + threadIdx.x; at < ", last, "; at += blockDim.x) {");
  if (schedule_.keep != Keep::registers) indent();
  position_.assign(nest_.exprs.size(), "");
  compute_positions(nest_.outer, nest_.outer + nest_.inner, sums,
                 [this, pass](const Output& s) { return !nest_.is_row(s) && nest_.exprs[s.value].level == pass; });
  close_block();
  if (schedule_.keep == Keep::registers) close_block();
}

bool is_uniform(const Nest& nest, const CudaSchedule& schedule, const Expr& select) {
  return schedule.pack > 1 && (select.axis != pack_axis(nest, schedule) || select.bound % schedule.pack == 0);
}

CudaTextKey text_key(const Nest& nest, const CudaSchedule& schedule) {
  CudaTextKey key{schedule};
  if (schedule.split()) key.schedule.parts = 2, key.finish_lanes = finish_lanes(nest);
  for (const Expr& e : nest.exprs)
    key.uniform_selects.push_back(e.fn == Fn::select && is_uniform(nest, schedule, e));
  return key;
}

CudaSource cuda_source(const Nest& nest, const CudaSchedule& schedule, const std::string& name) {
  for (const Output& s : nest.stores)
    if (s.kind == OutputKind::column) return {"", "sums over the outer axes are not written as CUDA C++ yet"};
  for (const Expr& e : nest.exprs)
    if (e.fn == Fn::cumsum) return {"", "sums that run along an axis are not written as CUDA C++ yet"};
  return {Writer(nest, schedule, name).run(), ""};
}

std::string cuda_text(LoweredRegion region) {
  order_loops(region.nest, region.reduced);
  const CudaSchedule schedule = cuda_schedule(region.nest, region.on_host);
  const CudaSource source = cuda_source(region.nest, schedule, kernel_name(region.nest));
  return source.error.empty() ? source.text : cat("// ", source.error, "\n");
}

}  // namespace thunder::loops
