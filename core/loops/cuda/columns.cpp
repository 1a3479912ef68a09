// Kernels in which a block takes neighbouring rows: down the columns of a matrix, and over the parts of rows.
#include "loops/cuda/writer.h"

namespace thunder::loops {

// One block for each tile of neighbouring columns, or for a part of the rows of each. Lanes past the last column
// compute the first one, and store nothing.
void Writer::write_column_tiles() {
  columns_ = true;
  const int lanes = schedule_.lanes;
  declare_alignment();
  declare_shared(schedule_.pack);
  line("const place rows = ", extent_product(0, nest_.outer),
       ", columns = ", extent_product(nest_.outer, nest_.outer + nest_.inner),
       ", parts = ", schedule_.split() ? parameter(parameters_) : "1", ", packs = ", pack_count("rows"), ";");
  line("const place tiles = (packs + ", lanes - 1, ") / ", lanes, ", each = (columns + parts - 1) / parts;");
  line("for (place work = blockIdx.x; work < tiles * parts; work += gridDim.x) {");
  indent();
  line("const place part = work / tiles, mine = work % tiles * ", lanes, " + threadIdx.x % ", lanes, ";");
  line("const bool inside = mine < packs;");
  line("const place begin = part * each, end = !inside ? begin : begin + each < columns ? begin + each : columns;");
  delinearize(cat("(inside ? mine : 0) * ", schedule_.pack), 0, nest_.outer);
  row_.assign(nest_.exprs.size(), ""), position_ = row_;
  load_columns();
  for (uint32_t pass = 0; pass < nest_.passes; pass++) write_pass(pass);
  line("if (inside && threadIdx.x < ", lanes, ") {");
  indent();
  if (!schedule_.split()) {
    compute_pack({}, [this](const Output& s) { return nest_.is_row(s); });
  } else {
    const std::vector<ExprId> sums = reductions_of_pass(0);
    for_each_in_pack([&] {
      for (size_t k = 0; k < sums.size(); k++)
        line(partial_address(k, sums[k], "part", cat("mine * ", schedule_.pack, " + v")), " = ", sum(sums[k]), ";");
    });
  }
  close_block();
  close_block();
  columns_ = false;
  of_columns_.assign(nest_.exprs.size(), false), loaded_ = of_columns_;
}

// The second kernel: a block for some neighbouring rows, whose parts its groups share out.
void Writer::write_finish_kernel() {
  const std::vector<ExprId> sums = reductions_of_pass(0);
  const int lanes = finish_lanes(nest_);
  declare_shared(1);
  line("const place rows = ", extent_product(0, nest_.outer), ", parts = ", parameter(parameters_), ";");
  line("for (place first = blockIdx.x * (place)", lanes, "; first < rows; first += gridDim.x * (place)", lanes, ") {");
  indent();
  line("const place mine = first + threadIdx.x % ", lanes, ", row = mine < rows ? mine : 0;");
  delinearize("row", 0, nest_.outer);
  row_.assign(nest_.exprs.size(), "");
  for (size_t k = 0; k < sums.size(); k++) {
    const ExprId id = sums[k];
    line(accumulator_type(id), " sum", id, " = ", neutral(id), ";");
    line("for (place part = threadIdx.x / ", lanes, "; part < parts; part += ", kCudaThreads / lanes, ")");
    line("  sum", id, " = ", combined_text(nest_.exprs[id], cat("sum", id), partial_address(k, id, "part", "row")),
         ";");
    reduce_groups(id, 1, lanes);
    finish_reduction(id);
  }
  line("if (mine < rows && threadIdx.x < ", lanes, ") {");
  indent();
  store_rows(false);
  close_block();
  close_block();
}

// The address of a part of the k-th reduction in the scratch.
std::string Writer::partial_address(size_t number, ExprId sum, const std::string& part, const std::string& row) const {
  return cat("((", accumulator_type(sum), "*)(scratch + (i64)", number, " * parts * rows * ", kPartialBytes, "))[(i64)",
             part, " * rows + ", row, "]");
}

}  // namespace thunder::loops
