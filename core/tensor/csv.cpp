#include "tensor/csv.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/files.h"
#include "base/text.h"

namespace thunder {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 34;
constexpr size_t kMaxColumns = 1 << 20;

std::string_view trim(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text.substr(0, text.find_last_not_of(" \t") + 1);
}

// Parses numbers by from_chars, which ignores the locale, and allows a leading plus.
template <class T>
std::errc parse(std::string_view field, T& value) {
  field = trim(field);
  if (field.size() > 1 && field[0] == '+' && field[1] != '-') field.remove_prefix(1);
  auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  return error == std::errc() && end != field.data() + field.size() ? std::errc::invalid_argument : error;
}

class Reader {
 public:
  Reader(const std::string& path, char separator)
      : path_(path), separator_(separator), text_(read_file(path, kMaxBytes)) {
    constexpr std::string_view kMark = "\xef\xbb\xbf";
    if (text_.compare(0, kMark.size(), kMark) == 0) at_ = kMark.size();
  }

  // The fields of the next row that is not blank; false at the end. Each is valid until the next call.
  bool read_row(std::vector<std::string>& fields) {
    while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) line_ += text_[at_++] == '\n';
    fields.clear();
    if (at_ == text_.size()) return false;
    first_ = row_line_ == 0;
    row_line_ = line_;
    while (true) {
      fields.push_back(read_field(fields.size() + 1));
      if (fields.size() > kMaxColumns) fail_at(fields.size(), cat("more than ", kMaxColumns, " columns"));
      if (at_ == text_.size()) return true;
      const char c = text_[at_++];
      if (c == separator_) continue;
      line_++;
      if (c == '\r' && at_ < text_.size() && text_[at_] == '\n') at_++;
      return true;
    }
  }

  template <class T>
  T parse_number(const std::string& field, size_t column) const {
    T value = 0;
    const std::errc error = parse(field, value);
    const auto shown = std::string_view(field).substr(0, 40);
    if (error == std::errc::result_out_of_range)
      fail_at(column, cat("'", shown, "' is out of range of ", sizeof(T) == 4 ? "f32" : "f64"));
    if (error != std::errc())
      fail_at(column, cat("expected a number, got '", shown, "'", first_ ? "; a row of names has no numbers" : ""));
    return value;
  }

  [[noreturn]] void fail_at(size_t column, std::string_view what) const {
    fail(Code::data_lost, "'", path_, "' line ", row_line_, ", column ", column, ": ", what);
  }

 private:
  std::string read_field(size_t column) {
    if (at_ < text_.size() && text_[at_] == '"') return read_quoted(column);
    const size_t from = at_;
    while (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' && text_[at_] != '\r') at_++;
    return text_.substr(from, at_ - from);
  }

  std::string read_quoted(size_t column) {
    std::string out;
    at_++;
    while (true) {
      const size_t quote = text_.find('"', at_);
      if (quote == text_.npos) fail_at(column, "a quote is never closed");
      out.append(text_, at_, quote - at_);
      at_ = quote + 1;
      if (at_ == text_.size() || text_[at_] != '"') break;
      out += text_[at_++];
    }
    line_ += static_cast<uint64_t>(std::count(out.begin(), out.end(), '\n'));
    if (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' && text_[at_] != '\r')
      fail_at(column, "text after a closing quote");
    return out;
  }

  const std::string& path_;
  char separator_;
  std::string text_;
  size_t at_ = 0;
  uint64_t line_ = 1, row_line_ = 0;
  bool first_ = true;  // the row is the first
};

template <class T>
Csv load(const std::string& path, const CsvOptions& options, const Allocator& allocator) {
  Reader reader(path, options.separator);
  std::vector<std::string> fields;
  std::vector<T> values;
  Csv out;
  size_t columns = 0;
  int64_t rows = 0;
  for (bool first = true; reader.read_row(fields); first = false) {
    if (first) {
      columns = fields.size();
      T ignored = 0;
      // A header row has no number in it; in other rows a cell that is no number is an error.
      const auto blank = [](auto& f) { return trim(f).empty(); };
      const bool guess = !std::all_of(fields.begin(), fields.end(), blank) &&
                         std::all_of(fields.begin(), fields.end(), [&](auto& f) {
                           return blank(f) || parse(f, ignored) == std::errc::invalid_argument;
                         });
      using Header = CsvOptions::Header;
      if (options.header == Header::yes || (options.header == Header::guess && guess)) {
        out.columns = fields;
        continue;
      }
    }
    if (fields.size() != columns)
      reader.fail_at(std::min(fields.size(), columns + 1),
                     cat("expected ", columns, " columns, found ", fields.size()));
    for (size_t i = 0; i < columns; i++) values.push_back(reader.parse_number<T>(fields[i], i + 1));
    rows++;
  }
  TensorType type;
  type.dtype = options.dtype;
  type.shape = {Dim(rows), Dim(columns)};
  out.values = Tensor::empty(allocator, type);
  if (!values.empty()) std::memcpy(out.values->data(), values.data(), values.size() * sizeof(T));
  return out;
}

}  // namespace

Csv load_csv(const std::string& path, const CsvOptions& options, const Allocator& allocator) {
  require(options.dtype == DType::f32 || options.dtype == DType::f64, "a CSV file is read as f32 or f64, not as ",
          name(options.dtype));
  require(std::string_view("\"\r\n+-.0123456789").find(options.separator) == std::string_view::npos,
          "'", options.separator, "' cannot separate numbers");
  return options.dtype == DType::f32 ? load<float>(path, options, allocator) : load<double>(path, options, allocator);
}

}  // namespace thunder
