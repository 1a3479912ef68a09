#include "tensor/print.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "ir/elements.h"
#include "tensor/transfer.h"

namespace thunder {
namespace {

constexpr std::string_view kPrefix = "tensor(";

bool is_cut(int64_t size, const TensorPrintOptions& o) { return size - o.edgeitems > o.edgeitems; }

// An axis of a tensor whose middle is left out.
struct Ends {
  size_t axis;
  int64_t from, to;  // where its end begins in the tensor, and among the elements that are shown
};

// A view of a corner: along some axes one of the ends, `count` elements long.
Ref<Tensor> corner_view(const Tensor& t, const std::vector<Ends>& ends, int64_t count, uint64_t second, bool shown) {
  TensorType type = t.type();
  auto offset = static_cast<int64_t>(t.offset());
  for (size_t i = 0; i < ends.size(); i++) {
    const Ends& e = ends[i];
    type.shape[e.axis] = Dim(count);
    if (second >> i & 1)
      offset += (shown ? e.to : e.from) * t.strides()[e.axis] * static_cast<int64_t>(size_of(type.dtype));
  }
  return Tensor::view(t.storage(), type, t.strides(), static_cast<size_t>(offset));
}

// The elements that are shown, dense on the host: all, or of each long axis its two ends.
Ref<Tensor> shown_elements(const Tensor& t, bool summarize, const TensorPrintOptions& o) {
  TensorType type = t.type();
  type.device = Device::cpu;
  if (summarize && !o.edgeitems && type.rank()) {
    type.shape = {0};
    return Tensor::empty(default_allocator(), type);
  }
  std::vector<Ends> ends;
  for (size_t axis = 0; summarize && axis < type.rank(); axis++) {
    const int64_t size = t.sizes()[axis];
    if (!is_cut(size, o)) continue;
    ends.push_back({axis, size - o.edgeitems, o.edgeitems});
    type.shape[axis] = Dim(2 * o.edgeitems);
  }
  Ref<Tensor> shown = Tensor::empty(default_allocator(), type);
  for (uint64_t second = 0; second >> ends.size() == 0; second++)
    copy_elements(*corner_view(t, ends, o.edgeitems, second, false),
                  *corner_view(*shown, ends, o.edgeitems, second, true));
  return shown;
}

std::string number_text(double value, std::chars_format format, int64_t precision) {
  if (std::isnan(value)) return "nan";
  std::string out(static_cast<size_t>(precision) + std::numeric_limits<double>::max_exponent10 + 8, '\0');
  const auto end = std::to_chars(out.data(), out.data() + out.size(), value, format, static_cast<int>(precision)).ptr;
  out.resize(static_cast<size_t>(end - out.data()));
  return out;
}

// How the elements of one tensor are written: all alike, and all as wide as the widest.
class Formatter {
 public:
  Formatter(const Buffer& shown, const TensorPrintOptions& o) : options_(o), real_(is_real(shown.dtype)) {
    if (real_) choose_notation(shown);
    else
      for (int64_t i = 0; i < shown.elements(); i++) update_width(element_text(shown, i));
  }

  size_t width() const { return width_; }
  std::string text(const Buffer& shown, int64_t i) const {
    const std::string out = real_ ? real_text(value_of(shown, i)) : element_text(shown, i);
    return std::string(width_ - std::min(width_, out.size()), ' ') + out;
  }

 private:
  static double value_of(const Buffer& shown, int64_t i) {
    return as_double(shown.dtype, shown.as<std::byte>() + i * static_cast<int64_t>(size_of(shown.dtype)));
  }
  static std::string element_text(const Buffer& shown, int64_t i) {
    if (shown.dtype == DType::boolean) return shown.as<bool>()[i] ? "True" : "False";
    return by_element(shown.dtype, [&](auto t) -> std::string {
      using T = decltype(t);
      if constexpr (std::is_integral_v<T>)
        return cat(static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(shown.as<T>()[i]));
      else return {};
    });
  }

  // Zeros, infinities and NaN neither decide on the notation nor on the width.
  void choose_notation(const Buffer& shown) {
    std::vector<double> values;
    for (int64_t i = 0; i < shown.elements(); i++)
      if (const double v = value_of(shown, i); std::isfinite(v) && v != 0) values.push_back(v);
    if (values.empty()) return;
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (double v : values) {
      least = std::min(least, std::abs(v)), most = std::max(most, std::abs(v));
      whole_ = whole_ && v == std::ceil(v);
    }
    scientific_ = most / least > 1000 || most > 1e8 || (!whole_ && least < 1e-4);
    for (double v : values) update_width(real_text(v));
    scientific_ = options_.sci_mode.value_or(scientific_);  // the width stays, as in PyTorch
  }
  void update_width(const std::string& text) { width_ = std::max(width_, text.size()); }

  std::string real_text(double value) const {
    if (scientific_) return number_text(value, std::chars_format::scientific, options_.precision);
    if (!whole_) return number_text(value, std::chars_format::fixed, options_.precision);
    return number_text(value, std::chars_format::fixed, 0) + (std::isfinite(value) ? "." : "");
  }

  const TensorPrintOptions& options_;
  const bool real_;
  bool whole_ = true, scientific_ = false;
  size_t width_ = 1;
};

class Printer {
 public:
  Printer(const Tensor& t, const TensorPrintOptions& o)
      : t_(t), options_(o), summarize_(t.elements() > o.threshold), shown_(shown_elements(t, summarize_, o)),
        formatter_(shown_->buffer(), o) {}

  std::string text() {
    if (t_.type().rank() == 0) return formatter_.text(shown_->buffer(), 0);
    return list(0, kPrefix.size());
  }

 private:
  // Whether a summarized axis shows no elements.
  bool is_empty(size_t axis) const { return summarize_ && !options_.edgeitems && t_.sizes()[axis] > 0; }
  std::string list(size_t axis, size_t indent) {
    if (is_empty(axis)) return "[...]";
    return axis + 1 == t_.type().rank() ? format_row(axis, indent) : format_rows(axis, indent);
  }

  // Calls each(), or dots() in the middle of a dim that is cut.
  template <class Each, class Dots>
  void for_each_shown(size_t axis, const Each& each, const Dots& dots) const {
    const bool cut = summarize_ && is_cut(t_.sizes()[axis], options_);
    for (int64_t i = 0; i < shown_->sizes()[axis]; i++) {
      if (cut && i == options_.edgeitems) dots();
      each();
    }
  }

  std::string format_row(size_t axis, size_t indent) {
    std::vector<std::string> items;
    for_each_shown(
        axis, [&] { items.push_back(formatter_.text(shown_->buffer(), next_++)); }, [&] { items.push_back(" ..."); });
    const auto width = static_cast<int64_t>(formatter_.width()) + 2;
    const auto in_line = std::max<int64_t>(1, (options_.linewidth - static_cast<int64_t>(indent)) / width);
    std::string out = "[";
    for (size_t i = 0; i < items.size(); i++) {
      if (i) out += i % static_cast<size_t>(in_line) ? ", " : cat(",\n", std::string(indent + 1, ' '));
      out += items[i];
    }
    return out + "]";
  }

  std::string format_rows(size_t axis, size_t indent) {
    const std::string between =
        cat(",", std::string(t_.type().rank() - axis - 1, '\n'), std::string(indent + 1, ' '));
    std::string out = "[";
    const auto add = [&](const std::string& text) { out += cat(out.size() > 1 ? between : "", text); };
    for_each_shown(axis, [&] { add(list(axis + 1, indent + 1)); }, [&] { add("..."); });
    return out + "]";
  }

  const Tensor& t_;
  const TensorPrintOptions& options_;
  const bool summarize_;
  const Ref<Tensor> shown_;
  const Formatter formatter_;
  int64_t next_ = 0;  // the number of the next element, in row-major order
};

std::string size_text(const Shape& shape) {
  return cat("size=(", join(shape, ", ", [](Dim d) { return name(d); }), shape.size() == 1 ? ",)" : ")");
}

// The text behind the elements: the properties that they do not show.
std::vector<std::string> collect_suffixes(const Tensor& t) {
  const TensorType& type = t.type();
  const bool traced = t.kind() == Tensor::Kind::proxy, empty = t.concrete() && t.elements() == 0;
  std::vector<std::string> out;
  if (type.device != Device::cpu) out.push_back(cat("device='", name(type.device), "'"));
  if (traced || (empty && type.rank() != 1)) out.push_back(size_text(type.shape));
  const bool usual = type.dtype == DType::f32 ||
                     (!empty && !traced && (type.dtype == DType::i64 || type.dtype == DType::boolean));
  if (!usual) out.push_back(cat("dtype=thunder.", info(type.dtype).pytorch));
  if (traced) out.push_back("traced");
  return out;
}

std::string append_suffixes(std::string text, const std::vector<std::string>& suffixes, int64_t linewidth) {
  // Without a line break, rfind gives -1: then the line is two longer than it is.
  size_t line = text.size() - text.rfind('\n') + 1;
  for (const std::string& suffix : suffixes) {
    if (static_cast<int64_t>(line + suffix.size() + 2) > linewidth) {
      text += cat(",\n", std::string(kPrefix.size(), ' '), suffix);
      line = kPrefix.size() + suffix.size();
    } else {
      text += cat(", ", suffix);
      line += suffix.size() + 2;
    }
  }
  return text + ")";
}

// A plain number of a scope as a 0-d tensor.
Ref<Tensor> tensor_of_number(const Tensor& number) {
  const Arg& value = number.number_value();
  TensorType type;
  type.dtype = tensor_dtype(number.type().dtype), type.device = Device::cpu;
  Ref<Tensor> made = Tensor::empty(default_allocator(), type);
  if (value.kind == ArgKind::real) *reinterpret_cast<float*>(made->data()) = static_cast<float>(value.f);
  else if (value.kind == ArgKind::integer) *reinterpret_cast<int64_t*>(made->data()) = value.i;
  else *reinterpret_cast<bool*>(made->data()) = value.i != 0;
  return made;
}

}  // namespace

std::optional<TensorPrintOptions> print_profile(std::string_view name) {
  if (name == "default") return TensorPrintOptions();
  if (name == "short") return TensorPrintOptions{.precision = 2, .edgeitems = 2};
  if (name == "full") return TensorPrintOptions{.threshold = std::numeric_limits<int64_t>::max()};
  return std::nullopt;
}

std::string print(const Tensor& t, const TensorPrintOptions& options) {
  if (t.kind() == Tensor::Kind::failed) throw Error(t.failure());
  if (t.kind() == Tensor::Kind::number) return print(*tensor_of_number(t), options);
  std::string elements = "...";
  if (t.concrete()) elements = t.elements() ? Printer(t, options).text() : "[]";
  return append_suffixes(cat(kPrefix, elements), collect_suffixes(t), options.linewidth);
}

}  // namespace thunder
