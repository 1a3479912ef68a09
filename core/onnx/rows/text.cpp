// Ops that work on text: there are no tensors of strings here.
#include "onnx/rows.h"

namespace thunder::onnx {
namespace {

constexpr std::string_view kText = "there are no tensors of strings; prepare text before the model";

constexpr ImportRow kRows[] = {
    {"StringConcat", 20, kLatestOpset, nullptr, nullptr, kText},
    {"StringNormalizer", 10, kLatestOpset, nullptr, nullptr, kText},
    {"StringSplit", 20, kLatestOpset, nullptr, nullptr, kText},
    {"RegexFullMatch", 20, kLatestOpset, nullptr, nullptr, kText},
    {"TfIdfVectorizer", 9, kLatestOpset, nullptr, nullptr, kText},
};

}  // namespace

constinit const ImportTable text_rows = {"", kRows};

}  // namespace thunder::onnx
