#include "tensor/print.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "support/failure.h"
#include "support/tensors.h"

namespace thunder {
namespace {

// A case of golden/print/pytorch.txt, which golden/print/record.py describes.
struct Case {
  std::string options, type, elements, text;
};

std::vector<Case> recorded() {
  std::ifstream file("golden/print/pytorch.txt");
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("==", 0) == 0) {
      Case& made = cases.emplace_back(Case{line.substr(2), "", "", ""});
      std::getline(file, made.type), std::getline(file, made.elements);
    } else {
      cases.back().text += (cases.back().text.empty() ? "" : "\n") + line;
    }
  }
  return cases;
}

void set_element(const Tensor& t, int64_t i, const std::string& text) {
  const double real = std::strtod(text.c_str(), nullptr);
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(real));
  switch (t.type().dtype) {
    case DType::f64: reinterpret_cast<double*>(t.data())[i] = real; break;
    case DType::f32: reinterpret_cast<float*>(t.data())[i] = static_cast<float>(real); break;
    case DType::bf16: reinterpret_cast<uint16_t*>(t.data())[i] = static_cast<uint16_t>((bits + 0x8000) >> 16); break;
    case DType::i32: reinterpret_cast<int32_t*>(t.data())[i] = static_cast<int32_t>(real); break;
    case DType::i64: reinterpret_cast<int64_t*>(t.data())[i] = std::strtoll(text.c_str(), nullptr, 10); break;
    default: reinterpret_cast<uint8_t*>(t.data())[i] = static_cast<uint8_t>(real);
  }
}

Ref<Tensor> made(const Case& c) {
  std::istringstream words(c.type), elements(c.elements);
  std::string word;
  words >> word;
  TensorType type;
  type.dtype = *find_dtype(word), type.device = Device::cpu;
  for (int64_t size; words >> size;) type.shape.push_back(Dim(size));
  auto t = Tensor::empty(default_allocator(), type);
  const bool range = c.elements.rfind("range ", 0) == 0;
  double step = 0;
  if (range) elements >> word >> step;
  for (int64_t i = 0; i < t->elements(); i++) {
    if (range) word = cat(step * static_cast<double>(i));
    else elements >> word;
    set_element(*t, i, word);
  }
  return t;
}

TensorPrintOptions options_of(const std::string& text) {
  TensorPrintOptions o;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::string name = word.substr(0, word.find('=')), value = word.substr(name.size() + 1);
    const int64_t number = value == "inf" ? std::numeric_limits<int64_t>::max() : std::atoll(value.c_str());
    if (name == "profile") o = *print_profile(value);
    if (name == "precision") o.precision = number;
    if (name == "threshold") o.threshold = number;
    if (name == "edgeitems") o.edgeitems = number;
    if (name == "linewidth") o.linewidth = number;
    if (name == "sci_mode") o.sci_mode = value == "true";
  }
  return o;
}

TEST(Print, is_what_pytorch_prints) {
  const std::vector<Case> cases = recorded();
  EXPECT_GT(cases.size(), 80u);
  for (const Case& c : cases) EXPECT_EQ(print(*made(c), options_of(c.options)), c.text) << c.type << ": " << c.elements;
}

Ref<Tensor> counted(std::initializer_list<int64_t> sizes, int64_t count) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < count; i++) values.push_back(i);
  return tensor_of<int64_t>(DType::i64, sizes, values);
}

TEST(Print, follows_the_strides_of_a_view) {
  const auto rows = counted({2, 3}, 6);
  EXPECT_EQ(print(*Tensor::view(rows->storage(), type_of(DType::i64, {3, 2}), {1, 3}, 0)),
            "tensor([[0, 3],\n        [1, 4],\n        [2, 5]])");
  EXPECT_EQ(print(*Tensor::view(rows->storage(), type_of(DType::i64, {2}), {-1}, 5 * sizeof(int64_t))), "tensor([5, 4])");
  // A summary of an expanded tensor, as large as it looks, reads the few elements that it shows.
  const auto one = tensor_of<int64_t>(DType::i64, {1}, {7});
  EXPECT_EQ(print(*Tensor::view(one->storage(), type_of(DType::i64, {1 << 30, 1 << 30}), {0, 0}, 0), {.edgeitems = 1}),
            "tensor([[7,  ..., 7],\n        ...,\n        [7,  ..., 7]])");
}

TEST(Print, shows_no_element_where_no_edge_is_asked_for) {
  EXPECT_EQ(print(*counted({4, 5}, 20), {.threshold = 5, .edgeitems = 0}), "tensor([...])");
  EXPECT_EQ(print(*counted({6}, 6), {.threshold = 5, .edgeitems = 0}), "tensor([...])");
  EXPECT_EQ(print(*counted({}, 1), {.threshold = 0, .edgeitems = 0}), "tensor(0)");
  // Nothing is done for each end of each dim.
  TensorType deep = type_of(DType::i64, {});
  Sizes strides;
  for (int axis = 0; axis < 60; axis++) deep.shape.push_back(Dim(2)), strides.push_back(0);
  const auto one = tensor_of<int64_t>(DType::i64, {1}, {7});
  EXPECT_EQ(print(*Tensor::view(one->storage(), deep, strides, 0), {.edgeitems = 0}), "tensor([...])");
}

TEST(Print, of_what_has_no_data_shows_its_type) {
  struct : ProxyOwner {
  } scope;
  EXPECT_EQ(print(*Tensor::proxy(type_of(DType::f32, {2, 3}), &scope, 1)), "tensor(..., size=(2, 3), traced)");
  EXPECT_EQ(print(*Tensor::proxy(type_of(DType::i64, {4}), &scope, 1)),
            "tensor(..., size=(4,), dtype=thunder.int64, traced)");
  TensorType there = type_of(DType::f64, {0, 2});
  there.device = cuda(1);
  EXPECT_EQ(print(*Tensor::proxy(there, &scope, 1)),
            "tensor(..., device='cuda:1', size=(0, 2), dtype=thunder.float64, traced)");
  EXPECT_EQ(failure_of([] { print(*Tensor::failed(make<Status>(Code::invalid_argument, "no such op"))); }), "no such op");
}

TEST(Print, of_a_plain_number_is_that_of_a_tensor_without_dims) {
  EXPECT_EQ(print(*Tensor::number(Arg::real(2.5))), "tensor(2.5000)");
  EXPECT_EQ(print(*Tensor::number(Arg::integer(3))), "tensor(3)");
  EXPECT_EQ(print(*Tensor::number(Arg::boolean(true))), "tensor(True)");
}

TEST(PrintProfile, has_the_names_of_torch) {
  EXPECT_EQ(print_profile("short")->precision, 2);
  EXPECT_FALSE(print_profile("long").has_value());
}

}  // namespace
}  // namespace thunder
