// The machine-independent code of one nest while it is made: loops, then what is computed at a point of them.
#pragma once

#include <llvm/Analysis/TargetTransformInfo.h>

#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/machine.h"
#include "loops/cpu/nest.h"
#include "loops/llvm/elementwise.h"

namespace thunder::codegen {

using loops::ExprId;
using loops::Map;
using loops::CpuNest;

class Code {
 public:
  Code(const CpuNest& nest, llvm::Function* function, unsigned lanes, const llvm::TargetTransformInfo& machine);
  void emit();

 private:
  // Where in the loops code is being made.
  struct Point {
    std::vector<llvm::Value*> index;  // of each axis, i64; of the lane axis: lane 0's
    llvm::Value* mask = nullptr;      // which lanes count; null: all
    loops::AxisSet picked = 0;       // axes whose index is given by a value, not by a loop
  };
  // Results are kept where they stay known: for a row, for a position, for one pick.
  using Memo = std::vector<llvm::Value*>;

  // loops.cpp
  void read_arguments();
  llvm::Value* parameter(size_t index);
  void loop(llvm::Value* begin, llvm::Value* end, uint64_t step, const std::function<void(llvm::Value*)>& body);
  void branch(llvm::Value* condition, const std::function<void()>& then, const std::function<void()>& otherwise = {});
  void begin_nontemporal();
  void end_nontemporal();
  void place(llvm::Value* item);
  struct Row;
  void each_row(const std::function<void()>& body);
  void emit_rows();
  void begin_row(Row& row);
  void store_row();
  void emit_pass();
  void emit_inner(uint32_t axis, const std::function<void()>& body);
  void store_all(const std::vector<const loops::Output*>& stores);

  // pipeline.cpp: rows one behind the other, each in another pass
  static bool has_registers_for_pipeline(const CpuNest& nest, const llvm::TargetTransformInfo& machine);
  void emit_pipeline(llvm::Value* begin, llvm::Value* end);
  void walk(size_t first, size_t count);
  void take_over(Row& row);
  void hand_on();
  llvm::Value* variable(llvm::Type* type);

  // vectors.cpp
  void emit_lanes(const std::function<void()>& body);
  void each_stretch(const std::function<void(llvm::Value*, llvm::Value*)>& body);
  void choose_lines(const std::vector<const loops::Output*>& stores);
  bool has_registers_of_lines() const;
  unsigned register_bits() const;
  llvm::Value* lanes_before_line(llvm::Value* begin);
  void emit_stretch(llvm::Value* begin, llvm::Value* end, const std::function<void()>& body);
  llvm::Value* whole_vectors(llvm::Value* begin, llvm::Value* end);
  llvm::Value* emit_vectors(llvm::Value* begin, llvm::Value* end, const std::function<void()>& body);
  void emit_masked(llvm::Value* begin, llvm::Value* end, const std::function<void()>& body);
  void emit_rest(llvm::Value* begin, llvm::Value* end, const std::function<void()>& body);
  llvm::Value* first_lane(llvm::Value* behind);
  bool from_the_end() const { return nest_.backwards && !nest_.lane_is_outer(); }
  llvm::Value* lanes_below(llvm::Value* first, llvm::Value* end);
  bool has_masks() const;
  bool has_free_masks() const;
  template <class Holds>
  bool each_memory(const Holds& holds) const;

  // reductions.cpp
  struct Sum {
    ExprId id;
    llvm::Value* lanes;           // a vector's place in the frame, which becomes a register
    llvm::Value* nans = nullptr;  // of an extremum: the lanes that have met a NaN
    llvm::Value* places = nullptr;  // of argmax: where each lane's was found
  };
  Sum begin_sum(ExprId id);
  void step(const Sum& sum);
  void end_sum(const Sum& sum);
  unsigned flags() const;
  llvm::Value* nans_of(llvm::Value* v);
  llvm::Value* extremum(Fn fn, llvm::Value* a, llvm::Value* b);
  template <class Join>
  llvm::Value* horizontal(llvm::Value* v, const Join& join);
  // argmax.cpp: as above; `lanes` are the greatest elements
  Sum begin_argmax(ExprId id);
  void step_argmax(const Sum& sum);
  void end_argmax(const Sum& sum);
  std::pair<llvm::Value*, llvm::Value*> halves(llvm::Value* v, unsigned lanes);
  llvm::Value* for_lanes(llvm::Type* element, llvm::Value* first);
  llvm::Value* for_lanes(llvm::Type* element, llvm::Value* first, unsigned lanes);

  // expressions.cpp
  llvm::Value* evaluate(ExprId id);
  void evaluate_rows_below(ExprId id);
  llvm::Value* number(const loops::Expr& e);
  llvm::Value* apply_all(const loops::Expr& e);
  bool divides_row(const loops::Expr& e) const;
  struct Reciprocal {
    llvm::Value *scale = nullptr, *value = nullptr;  // x / y is x * scale * value; no scale: 1
  };
  const Reciprocal& reciprocal(ExprId id);
  llvm::Value* pick(ExprId id);
  void report(llvm::Value* bad, llvm::Value* index, ExprId id);
  llvm::Value* uniform(const loops::Expr& e);
  Memo& memo_of(ExprId id);

  // scans.cpp
  struct Scan {
    unsigned lanes = 0;                  // at a time
    llvm::Value* sum = nullptr;          // a vector's place: the sums at the position before
    std::vector<llvm::Value*> windows;   // there, sums over 1, 2, 4 .. numbers that end at each lane
  };
  void begin_scans(uint32_t pass);
  unsigned lanes_of_scan(llvm::Type* element) const;
  llvm::Value* scan(ExprId id);
  llvm::Value* scan_register(const Scan& state, llvm::Value* v, DType d);
  llvm::Value* moved(llvm::Value* before, llvm::Value* v, unsigned by);

  // choices.cpp
  llvm::Value* choose(ExprId id);
  template <class Make>
  void apart(const Make& make);
  llvm::Value* cut(uint32_t axis, int64_t at);
  bool runs_along(uint32_t axis) const;
  bool stretch_below(int64_t bound) const;
  bool is_here(const loops::Output& s) const;
  void store_where_known(const loops::Output& s);
  llvm::Value* spread(llvm::Value* v);  // a scalar as a vector

  // turned.cpp: what lies side by side along the block's axis is read as squares, whose rows become columns
  bool is_turned(ExprId id) const;
  void emit_block(uint32_t axis, const std::function<void()>& body);
  void turn(ExprId id, llvm::Value* first);
  void turn_quads(llvm::Value** rows);
  llvm::Value* load_turned(ExprId id);

  // kept.cpp: what one pass computes and a later one needs again lies in a row of its own
  void make_room();
  bool is_kept(ExprId id) const;
  llvm::Value* kept_address(ExprId id);
  void keep(ExprId id, llvm::Value* v);
  llvm::Value* load_kept(ExprId id);

  // memory.cpp
  struct Offset {
    llvm::Value* scalar;
    llvm::Value* vector = nullptr;  // added to it by lane
    bool contiguous = false;        // the lanes follow each other
  };
  Offset offset(uint32_t map, llvm::Value* more = nullptr);
  llvm::Value* more_of(const loops::Expr& e) const;
  llvm::Value* more_of(const loops::Output& s) const;
  llvm::Value* load(const loops::Expr& e);
  bool is_prefetched(ExprId id) const;
  void fetch(llvm::Value* at);
  void prefetch_next(ExprId id, llvm::Value* from, size_t bytes);
  llvm::Value* position(const loops::Expr& e);
  void store(const loops::Output& s, llvm::Value* value);
  void store_vector(const loops::Output& s, llvm::Value* value, llvm::Value* to, llvm::Align align);
  llvm::Value* lane_numbers();
  llvm::Value* address(uint32_t buffer, const Offset& at);

  const CpuNest& nest_;
  const std::vector<loops::Bounds> bounds_;  // by expression
  const llvm::TargetTransformInfo& machine_;
  llvm::Function* function_;
  unsigned lanes_;
  Builder b_;
  std::vector<llvm::Value*> buffers_, extents_;
  std::vector<std::vector<llvm::Value*>> strides_;  // by map and axis; null: 0
  std::vector<llvm::Value*> offsets_, store_offsets_;  // by expression, by output; null: 0
  std::vector<std::vector<int64_t>> cuts_;             // by axis: where it is cut
  std::vector<std::vector<llvm::Value*>> cut_at_;      // the same as the kernel is told
  size_t stretch_ = 0;                                 // between which cuts of the lane axis code is being made
  llvm::Value *piece_ = nullptr, *block_ = nullptr;  // lengths
  llvm::Value *lane_begin_ = nullptr, *lane_end_ = nullptr;    // of the piece
  llvm::Value *block_begin_ = nullptr, *block_end_ = nullptr;
  struct Lines {
    uint32_t buffer, map;
    llvm::Value* more;  // added to what the map says; null: nothing
  };
  std::optional<Lines> lines_of_;
  std::vector<llvm::Value*> may_bypass_;  // by buffer: of a non-temporal output, whether it lies in no input's memory
  llvm::Value* refusal_ = nullptr;
  Point at_;
  // A row while it is walked. Of several one is in each pass.
  struct Row {
    uint32_t pass = 0;
    std::vector<llvm::Value*> index;  // along the outer axes
    Memo known, position;             // for the row, and where the loops stand in it
    // By expression.
    std::vector<Reciprocal> reciprocals;  // of row values
    std::vector<bool> looked_below;       // in this pass
    std::vector<Scan> scans;
    Memo rooms;
    // Of this pass.
    std::vector<ExprId> reductions;
    std::vector<const loops::Output*> stores;
    std::vector<Sum> sums;
    // Of a pipeline, by expression: where the row finds, as it takes over, what the one that was in this pass before it had, or what
    // itself had in the pass before.
    Memo results, room_places;
  };
  const bool pipelined_;
  std::vector<Row> rows_;
  std::span<Row> walked_;  // of them
  Row* row_ = nullptr;     // for which code is being made
  Memo picked_;
  bool apart_ = false;  // in code that runs at some positions only
  uint32_t pass_ = 0;
  std::vector<llvm::Value*> squares_;   // by expression: of what is turned, a row for each step along the block's axis
  llvm::Value* square_ = nullptr;       // where the squares begin, while there are any
  std::vector<uint32_t> kept_in_;       // the pass that filled it; none: kNowhere
};

// How many elements of the lane axis a nest computes at a time: several machine vectors, so that their latencies
// overlap, fewer where many values live at once.
unsigned choose_lanes(const CpuNest& nest, unsigned machine_bits);

}  // namespace thunder::codegen
