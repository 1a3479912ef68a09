// Writes the text of a kernel: keeps track of the loops around the current position and of the variables that hold
// values there.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "loops/cuda/source.h"

namespace thunder::loops {

class Writer {
 public:
  Writer(const Nest& nest, const CudaSchedule& schedule, const std::string& name);
  std::string run();

 private:
  using Memo = std::vector<std::string>;  // by expression: the variable that holds it; "": not yet
  using Rows = CudaSchedule::Rows;
  using Wanted = std::function<bool(const Output&)>;
  // By expression: where a position needs it, as a condition; "": nowhere.
  using Guards = std::vector<std::string>;
  static constexpr const char* kAlways = "true";

  // source.cpp: loops and reductions
  void begin_kernel(const std::string& name);
  void write_elements_kernel();
  void begin_joined_kernel(const std::string& name);
  void write_rows_kernel();
  void write_row_parts_kernel();
  void write_finish_kernel();
  void write_column_tiles();
  void open_rows(const std::string& count);
  void compute_row_values(uint32_t pass);
  void write_pass(uint32_t pass);
  std::vector<ExprId> reductions_of_pass(uint32_t pass) const;
  void open_trip_loop();
  void load_kept_row();
  void declare_kept_row();
  void write_row_loop(const std::vector<ExprId>& sums, const std::string& begin, const std::string& end, uint32_t pass);
  void declare_sums(const std::vector<ExprId>& sums);
  void reduce_threads(ExprId sum);
  void reduce_groups(ExprId sum, uint32_t columns, int lanes);
  void finish_reduction(ExprId sum);
  void declare_shared(uint32_t columns);
  bool needs_group_reduction() const;
  std::string combiner_text(ExprId id) const;
  void store_rows(bool by_one_thread);
  std::string partial_address(size_t number, ExprId sum, const std::string& part, const std::string& row) const;
  std::string extent_product(uint32_t begin, uint32_t end) const;
  void delinearize(const std::string& position, uint32_t begin, uint32_t end);
  std::string sum(ExprId id) const { return cat("sum", id, columns_ ? "[v]" : ""); }
  std::string accumulator_type(ExprId id) const;
  std::string neutral(ExprId id) const;
  std::string reduced_element(ExprId id);
  std::string combined_text(const Expr& e, const std::string& x, const std::string& y) const;

  // packs.cpp: vectorized loads and stores of neighbouring elements
  std::string pack_count(const std::string& elements) const;
  void declare_alignment();
  void compute_positions(uint32_t begin, uint32_t end, const std::vector<ExprId>& sums, const Wanted& wanted);
  void compute_pack(const std::vector<ExprId>& sums, const Wanted& wanted);
  void for_each_in_pack(const std::function<void()>& write);
  void load_columns();
  void collect_needed(ExprId id, const std::string& when, Guards& needed) const;
  Guards exprs_needed_by(const std::vector<ExprId>& sums, const Wanted& wanted) const;
  bool is_packed(ExprId id) const;
  std::string pack_type(ExprId load) const;
  std::string load_pack_text(ExprId id) const;
  void load_pack(ExprId id, const std::string& when);
  void declare_packs(const Wanted& wanted);
  void store_packs(const Wanted& wanted);

  // expressions.cpp: values and stores inside the loops
  void store_all(const Wanted& wanted);
  void store_in_intervals(const Output& s);
  void store(const Output& s, const std::string& v);
  template <class F>
  void in_own_scope(F&& write);
  std::string offset_text(uint32_t map) const;
  std::string emit_value(ExprId id);
  void select(ExprId id, const std::string& variable);
  std::string gather(ExprId id);
  std::string expression_text(ExprId id);

  template <class... T>
  void line(const T&... parts) {
    out_ += cat(indent_, parts..., "\n");
  }
  void indent() { indent_ += "  "; }
  void close_block() { indent_.resize(indent_.size() - 2), line("}"); }
  using Keep = CudaSchedule::Keep;
  bool keeps(Keep where, ExprId id) const { return schedule_.keep == where && schedule_.kept_loads[id]; }
  bool is_host_scalar(size_t buffer) const { return buffer < schedule_.on_host.size() && schedule_.on_host[buffer]; }
  static std::string parameter(size_t number) { return cat("(place)p.at[", number, "]"); }

  const Nest& nest_;
  const CudaSchedule& schedule_;
  const std::string& name_;
  const Rows rows_;
  std::string out_, indent_ = "  ";
  std::vector<std::string> index_;                 // by axis: the variable that walks it
  std::vector<std::vector<std::string>> strides_;  // by map and axis; "": it is not walked
  std::vector<std::string> offsets_, store_offsets_;  // by expression, by output; "": 0
  std::map<std::pair<uint32_t, int64_t>, std::string> cuts_;
  size_t parameters_ = 0;
  std::vector<size_t> numbers_;  // by argument: which of those that are passed by value
  size_t count_of_numbers_ = 0;
  Memo row_, position_, gathers_;
  std::vector<bool> loaded_;     // by expression: a pack of it is there
  std::vector<bool> guarded_;    // by expression: its pack is there where selects choose it
  bool for_some_ = false;        // within what only some elements of a pack need: by a condition, a select, an index
  std::vector<bool> of_columns_; // the same, before the loop down the columns
  std::vector<bool> uniform_selects_;  // by select: a variable says which operand it chooses for the pack
  bool columns_ = false;         // within a block that takes a tile of columns: sums are arrays, by element of the pack
  std::vector<bool> in_shared_;  // by expression: its packs of the row are in shared memory
  bool in_pack_ = false;         // within the loop over a pack
  AxisSet gathered_ = 0;
  int depth_ = 0;
};

// Writes a block of its own. Variables that are declared in it are not used behind it.
template <class F>
void Writer::in_own_scope(F&& write) {
  const Memo row = row_, position = position_, gathers = gathers_;
  indent();
  write();
  close_block();
  row_ = row, position_ = position, gathers_ = gathers;
}

}  // namespace thunder::loops
