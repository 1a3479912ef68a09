// A stand-in for NVRTC: the system's C++ compiler makes a shared library of a kernel's text, which the stand-in for the driver runs.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

namespace {

constexpr char kEmulation[] =
#include "fake_cuda_emulation.inc"
    ;

struct Program {
  std::string text, log, object;
};

// "KERNEL(PARAMETERS)" for each kernel: its parameters are read from an array of pointers, as cuLaunchKernel is given them.
std::string launchers(const std::string& text) {
  std::string out;
  const std::string begin = "extern \"C\" __global__ ", result = "void ", bounds = "__launch_bounds__(";
  for (size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
    size_t name = at + begin.size();
    if (text.compare(name, bounds.size(), bounds) == 0) name = text.find(") ", name) + 2;
    if (text.compare(name, result.size(), result) != 0) continue;
    name += result.size();
    const size_t open = text.find('(', name), close = text.find(") {", open);
    std::string parameters = text.substr(open + 1, close - open - 1), call, sizes;
    std::stringstream list(parameters);
    int n = 0;
    for (std::string parameter; std::getline(list, parameter, ',');) {
      const size_t last = parameter.find_last_of(" *&");
      sizes += "sizeof(std::remove_const_t<" + parameter.substr(0, last + 1) + ">), ";
      call += (n ? ", " : "") + ("*(std::remove_const_t<" + parameter.substr(0, last + 1) + ">*)p[" + std::to_string(n) + "]");
      n++;
    }
    const std::string kernel = text.substr(name, open - name);
    out += "extern \"C\" const unsigned long fake_sizes_" + kernel + "[] = {" + sizes + "0};\n";
    out += "extern \"C\" void fake_launch_" + kernel + "(void** p) { " + kernel + "(" + call + "); }\n";
  }
  return out;
}

// THUNDER_FAKE_CUDA_TEXTS names a folder where each text is left, with the options it is compiled with in the first line.
void keep_text(const std::string& text, const std::string& options) {
  const char* const folder = std::getenv("THUNDER_FAKE_CUDA_TEXTS");
  if (!folder || !*folder) return;
  std::ostringstream name;
  name << folder << "/" << std::hex << std::hash<std::string>()(options + "\n" + text) << ".cu";
  std::ofstream(name.str()) << "//" << options << "\n" << text;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

extern "C" {

// Counts up when what it makes of a text changes: machine code is kept on disk by it.
int nvrtcVersion(int* major, int* minor) { return *major = 13, *minor = 2, 0; }

int nvrtcCreateProgram(Program** out, const char* text, const char*, int, const char* const*, const char* const*) {
  return *out = new Program{text, "", ""}, 0;
}

int nvrtcCompileProgram(Program* p, int count, const char* const* options) {
  std::string defined, all;
  for (int i = 0; i < count; i++) all += " " + std::string(options[i]);
  keep_text(p->text, all);
  for (int i = 0; i < count; i++)
    if (std::string(options[i]).rfind("-D", 0) == 0) defined += " '" + std::string(options[i]) + "'";
  std::string folder = (std::filesystem::temp_directory_path() / "fake_nvrtc_XXXXXX").string();
  if (!mkdtemp(folder.data())) return 1;
  const std::string source = folder + "/kernel.cpp", object = folder + "/kernel.so", log = folder + "/log";
  const bool barrier = p->text.find("__syncthreads") != std::string::npos || p->text.find("__shfl") != std::string::npos;
  std::ofstream(source) << "#include <type_traits>\n" << kEmulation << "\nextern \"C\" const int fake_needs_barrier = " << barrier << ";\n"
                        << "fake_dim3 fake_thread, fake_block, fake_threads, fake_blocks;\nvoid (*fake_barrier)();\n"
                        << p->text << "\n" << launchers(p->text);
  // A library with unique symbols stays loaded, and would be found again under the next one's name, /proc/self/fd/N.
  const std::string command = "c++ -std=c++17 -O1 -w -ffp-contract=off -fPIC -fno-gnu-unique -shared" + defined + " -o " + object + " " + source + " > " + log + " 2>&1";
  const int failed = std::system(command.c_str());
  p->log = read_file(log);
  p->object = failed ? "" : read_file(object);
  for (const std::string& file : {source, object, log}) unlink(file.c_str());
  rmdir(folder.c_str());
  return failed ? 6 : 0;
}

int nvrtcGetProgramLogSize(Program* p, size_t* bytes) { return *bytes = p->log.size(), 0; }
int nvrtcGetProgramLog(Program* p, char* out) { return p->log.copy(out, p->log.size()), 0; }
int nvrtcGetCUBINSize(Program* p, size_t* bytes) { return *bytes = p->object.size(), 0; }
int nvrtcGetCUBIN(Program* p, char* out) { return p->object.copy(out, p->object.size()), 0; }
int nvrtcDestroyProgram(Program** p) { return delete *p, *p = nullptr, 0; }
}
