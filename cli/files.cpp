#include "files.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace {

using namespace std::string_view_literals;

struct Form {
  size_t at;
  std::string_view bytes;
  FileKind kind;
  const char* description;
};

constexpr Form kForms[] = {
    {0, "\x93NUMPY"sv, FileKind::array, "an array of NumPy"},
    {0, "PK\3\4"sv, FileKind::other, "a zip archive, as arrays of NumPy (.npz) and what torch.save writes (.pt) are"},
    {0, "\x80\2"sv, FileKind::other, "a pickle of Python, as torch.save wrote it formerly"},
    {0, "\x80\4"sv, FileKind::other, "a pickle of Python"},
    {0, "\x80\5"sv, FileKind::other, "a pickle of Python"},
    {0, "GGUF"sv, FileKind::other, "weights in GGUF, llama.cpp's form"},
    {0, "\x89HDF\r\n"sv, FileKind::other, "an HDF5 file, as Keras writes them"},
    {4, "TFL3"sv, FileKind::other, "a model of TensorFlow Lite"},
    {4, "ORTM"sv, FileKind::other, "a model in ONNX Runtime's own form; the .onnx that it was made of can be read"},
    {0, "PAR1"sv, FileKind::other, "a table in Parquet"},
    {0, "ARROW1"sv, FileKind::other, "a table in Arrow's form"},
    {0, "\x7f" "ELF"sv, FileKind::other, "an executable or a library (ELF)"},
    {0, "\x1bLua"sv, FileKind::other, "compiled Lua; its source can be run"},
    {0, "\x1f\x8b"sv, FileKind::other, "compressed by gzip"},
    {0, "\x28\xb5\x2f\xfd"sv, FileKind::other, "compressed by zstd"},
    {0, "\xfd" "7zXZ"sv, FileKind::other, "compressed by xz"},
    {0, "\x89PNG"sv, FileKind::other, "a picture (PNG)"},
    {0, "\xff\xd8\xff"sv, FileKind::other, "a picture (JPEG)"},
    {0, "%PDF"sv, FileKind::other, "a PDF"},
};

std::string first_bytes(const char* file, size_t count) {
  std::error_code ignored;
  std::string bytes(count, '\0');
  if (!std::filesystem::is_regular_file(file, ignored)) return "";
  std::ifstream in(file, std::ios::binary);
  in.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<size_t>(in.gcount()));
  return bytes;
}

const Form* form_of(std::string_view first) {
  for (const Form& f : kForms)
    if (first.size() > f.at && first.substr(f.at).starts_with(f.bytes)) return &f;
  return nullptr;
}

bool is_text(std::string_view first) {
  return std::all_of(first.begin(), first.end(), [](unsigned char c) { return c >= 32 || (c >= 8 && c <= 13) || c == 27; });
}

}  // namespace

FileKind kind_of(const char* file) {
  constexpr size_t kHeader = 4096;  // of a saved program: its metadata comes first, and says so
  const std::string first = first_bytes(file, kHeader);
  // safetensors: the eight bytes of a length below 4 GiB, and a brace.
  if (first.size() > 8 && first[8] == '{' && !first.compare(4, 4, "\0\0\0\0"sv))
    return first.find("\"thunder program\"") != std::string::npos ? FileKind::program : FileKind::safetensors;
  if (first.size() > 1 && first[0] == 8 && first[1] > 0 && first[1] < 32) return FileKind::model;  // a field with its version
  if (const Form* form = form_of(first)) return form->kind;
  const std::string_view name = file;
  return name.ends_with(".thunder") ? FileKind::program : name.ends_with(".onnx") ? FileKind::model : FileKind::script;
}

const char* description_of(const char* file) {
  const std::string first = first_bytes(file, 512);
  if (const Form* form = form_of(first)) return form->description;
  if (first.empty()) return "empty";
  return is_text(first) ? "text, such as a script" : "of no form that is known here";
}
