// einsum: sums of products by labels of dims, two operands at a time as one batched matrix product.
#include <algorithm>

#include "ops/tables.h"

namespace thunder {
namespace {

// An operand and a label for each of its dims. Dims that '...' stands for have the labels '0', '1' ... from the last.
struct Labelled {
  Var x;
  std::string labels;
};

std::string_view label_text(const char& label) {
  return std::isdigit(static_cast<unsigned char>(label)) ? "..." : std::string_view(&label, 1);
}

bool contains_label(const std::string& text, char label) { return text.find(label) != text.npos; }

// The labels of one operand of `rank` dims.
std::string expand_ellipsis(const Call& c, std::string_view term, size_t rank) {
  const size_t dots = term.find("..."), letters = term.size() - (dots == term.npos ? 0 : 3);
  c.require(dots == term.npos ? letters == rank : letters <= rank, "the term '", term, "' names ", letters,
            " dims, its operand has ", rank);
  std::string labels;
  for (size_t i = 0; i < term.size();) {
    if (i == dots) {
      for (size_t n = rank - letters; n-- > 0;) labels += static_cast<char>('0' + n);
      i += 3;
      continue;
    }
    c.require(std::isalpha(static_cast<unsigned char>(term[i])), "unexpected '", term[i], "' in the term '", term, "'");
    labels += term[i++];
  }
  return labels;
}

// A label that occurs twice in an operand takes its diagonal.
Labelled take_repeated_diagonals(Labelled v) {
  for (size_t i = 0; i < v.labels.size(); i++) {
    const size_t again = v.labels.find(v.labels[i], i + 1);
    if (again == v.labels.npos) continue;
    const char label = v.labels[i];
    v.x = v.x.builder->call("diagonal", {v.x, 0, static_cast<int64_t>(i), static_cast<int64_t>(again)});
    v.labels.erase(again, 1), v.labels.erase(i, 1);
    v.labels += label;
    i = SIZE_MAX;
  }
  return v;
}

// Sums over dims that are not wanted any more; sums of integers are i64, as in `sum`.
Labelled sum_out_labels(Labelled v, const std::string& wanted) {
  Shape gone;
  std::string kept;
  for (size_t i = 0; i < v.labels.size(); i++) {
    if (contains_label(wanted, v.labels[i])) kept += v.labels[i];
    else gone.push_back(static_cast<int64_t>(i));
  }
  return {gone.empty() ? v.x : v.x.builder->call("sum", {v.x, gone}), kept};
}

// The dims in the order of `labels`; those that it lacks with size 1.
Var arrange_dims(const Labelled& v, const std::string& labels) {
  Shape order, shape;
  for (char label : labels) {
    const size_t at = v.labels.find(label);
    if (at != v.labels.npos) order.push_back(static_cast<int64_t>(at));
    shape.push_back(at == v.labels.npos ? Dim(1) : v.x.shape()[at]);
  }
  return reshape_to(permute_to(v.x, order), shape);
}

Dim size_of_label(const Labelled& v, char label) { return v.x.shape()[v.labels.find(label)]; }

// Labels by where they are: in both and wanted later (batch), in both only (inside), in one.
Labelled multiply_pair(const Call& c, Labelled a, Labelled b, const std::string& wanted) {
  a = sum_out_labels(a, wanted + b.labels), b = sum_out_labels(b, wanted + a.labels);
  std::string batch, inside, rows, columns;
  for (char label : a.labels) {
    if (!contains_label(b.labels, label)) rows += label;
    else (contains_label(wanted, label) ? batch : inside) += label;
  }
  for (char label : b.labels)
    if (!contains_label(a.labels, label)) columns += label;
  const auto sizes = [&](const std::string& labels) {
    Shape s;
    for (char label : labels)
      s.push_back(contains_label(a.labels, label) && !(size_of_label(a, label) == Dim(1)) ? size_of_label(a, label)
                  : contains_label(b.labels, label)                                       ? size_of_label(b, label)
                                                                                          : size_of_label(a, label));
    return s;
  };
  const auto matrix = [&](const Labelled& v, const std::string& left, const std::string& right) {
    Shape whole = sizes(batch), shape = sizes(batch);
    for (const std::string* part : {&left, &right}) {
      const Shape s = sizes(*part);
      for (Dim d : s) whole.push_back(d);
      shape.push_back(elements(s));
    }
    const std::string all = batch + left + right;
    Var x = arrange_dims(v, all);
    for (size_t i = 0; i < whole.size(); i++)
      c.require(x.shape()[i] == whole[i] || x.shape()[i] == Dim(1), "label '", label_text(all[i]), "' has the sizes ",
                name(x.shape()[i]), " and ", name(whole[i]));
    return reshape_to(expand_to(x, whole), shape);
  };
  const std::string labels = batch + rows + columns;
  if (a.x.dtype() != b.x.dtype() && !is_real(a.x.dtype()) && !is_real(b.x.dtype()))
    a.x = convert(a.x, DType::i64), b.x = convert(b.x, DType::i64);  // one was summed
  if (inside.empty()) return {arrange_dims(a, labels) * arrange_dims(b, labels), labels};
  Var y = c.builder.call("matmul", {matrix(a, rows, inside), matrix(b, inside, columns)});
  return {reshape_to(y, sizes(labels)), labels};
}

std::vector<std::string> split_terms(std::string_view text) {
  std::vector<std::string> terms(1);
  for (char ch : text) {
    if (ch == ',') terms.emplace_back();
    else if (ch != ' ') terms.back() += ch;
  }
  return terms;
}

// Without '->': what '...' stands for, then in alphabetical order the labels that appear once.
std::string implied_result(const std::vector<Labelled>& operands, size_t dots) {
  std::string all, result;
  for (const Labelled& v : operands) all += v.labels;
  for (size_t n = dots; n-- > 0;) result += static_cast<char>('0' + n);
  std::string letters;
  for (char label : all)
    if (std::isalpha(static_cast<unsigned char>(label)) && std::count(all.begin(), all.end(), label) == 1)
      letters += label;
  std::sort(letters.begin(), letters.end());
  return result + letters;
}

Results einsum(Call& c) {
  const std::string_view equation = c.text(0);
  const size_t arrow = equation.find("->");
  const auto terms = split_terms(equation.substr(0, arrow));
  auto tensors = c.vars(1);
  c.require(terms.size() == tensors.size() && !tensors.empty(), "the equation '", equation, "' has ", terms.size(),
            " terms for ", tensors.size(), " operands");
  std::vector<Labelled> operands;
  size_t dots = 0;
  for (size_t i = 0; i < terms.size(); i++) {
    operands.push_back({tensors[i], expand_ellipsis(c, terms[i], tensors[i].rank())});
    if (terms[i].find("...") != std::string::npos) dots = std::max(dots, tensors[i].rank() + 3 - terms[i].size());
  }
  c.require(dots <= 8, "'...' stands for ", dots, " dims, at most 8 are possible");
  std::string result;
  if (arrow == equation.npos) {
    result = implied_result(operands, dots);
  } else {
    std::string term = split_terms(equation.substr(arrow + 2))[0];
    const bool has_dots = term.find("...") != term.npos;
    result = expand_ellipsis(c, term, term.size() - (has_dots ? 3 : 0) + (has_dots ? dots : 0));
  }
  std::string all;
  for (const Labelled& v : operands) all += v.labels;
  for (size_t i = 0; i < result.size(); i++)
    c.require(contains_label(all, result[i]) && result.find(result[i], i + 1) == result.npos, "label '", result[i],
              "' of the result is in no operand, or there twice");
  Labelled sum = take_repeated_diagonals(operands[0]);
  for (size_t i = 1; i < operands.size(); i++) {
    std::string wanted = result;
    for (size_t j = i + 1; j < operands.size(); j++) wanted += operands[j].labels;
    sum = multiply_pair(c, sum, take_repeated_diagonals(operands[i]), wanted);
  }
  return arrange_dims(sum_out_labels(sum, result), result);
}

void samples(Samples& s) {
  const TensorSpec a{{2, 3}}, b{{3, 4}}, batch{{5, 2, 3}};
  s.add({"ij,jk->ik", std::vector<TensorSpec>{a, b}});
  s.add({"ij,jk", std::vector<TensorSpec>{a, b}});
  s.add({"bij,jk->bki", std::vector<TensorSpec>{batch, b}});
  s.add({"ij->ji", std::vector<TensorSpec>{a}});
  s.add({"ij->", std::vector<TensorSpec>{a}});
  s.add({"ii->i", std::vector<TensorSpec>{{{3, 3}}}});
  s.add({"i,j->ij", std::vector<TensorSpec>{{{2}}, {{3}}}});
  s.add({"...ij,...jk->...ik", std::vector<TensorSpec>{batch, b}});
  s.add({"bhqd,bhkd->bhqk", std::vector<TensorSpec>{{{2, 2, 3, 4}}, {{2, 2, 5, 4}}}});
  s.add({"ij,jk,kl->il", std::vector<TensorSpec>{a, b, {{4, 2}}}});
  s.add({"ij,ij->i", std::vector<TensorSpec>{a, a}});
  s.refuse({"ij,jk->ik", std::vector<TensorSpec>{a}}, "2 terms for 1 operands");
  s.refuse({"ij,jk->iz", std::vector<TensorSpec>{a, b}}, "'z'");
  s.refuse({"ijk,jk->i", std::vector<TensorSpec>{a, b}}, "names 3 dims");
}

constexpr OpRow kEinsum =
    composite("einsum(str equation, tensor[] operands) -> tensor", CastPolicy::lower_precision_fp,
              "Sums of products: each operand's dims by labels, those that the result lacks are summed over.", einsum,
              samples, kMatmul | kMayView);

}  // namespace

extern const OpRows einsum_ops = {&kEinsum, 1};

}  // namespace thunder
