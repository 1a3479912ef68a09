#include "jit/programs/cache_artifacts.h"

#include <algorithm>

#include "base/text.h"
#include "device/cuda/cubins.h"
#include "executors/cpu/products/choices.h"
#include "loops/kernels.h"

namespace thunder {
namespace {

constexpr const char *kCpu = "cpu kernel", *kCuda = "cuda kernel", *kChoice = "product choice";

Artifacts make_empty_artifacts(const Machine& machine) {
  return {loops::library_build(), kind_of(machine), loops::generator(), {}};
}

}  // namespace

std::string save_cache_artifacts(const Machine& machine, ArtifactCounts& counts) {
  Artifacts all = make_empty_artifacts(machine);
  for (auto& [text, object] : loops::kernels().objects()) all.entries.push_back({kCpu, text, std::move(object)});
  counts.cpu_kernels = all.entries.size();
  for (auto& [key, cubin] : nvidia::used_cubins()) all.entries.push_back({kCuda, key, std::move(cubin)});
  counts.cuda_kernels = all.entries.size() - counts.cpu_kernels;
  for (auto& [key, algorithm] : known_choices()) all.entries.push_back({kChoice, key, std::move(algorithm)});
  counts.product_choices = all.entries.size() - counts.cpu_kernels - counts.cuda_kernels;
  return pack(all);
}

Artifacts collect_artifacts(const Machine& machine, std::vector<std::string> nests) {
  std::sort(nests.begin(), nests.end());
  nests.erase(std::unique(nests.begin(), nests.end()), nests.end());
  Artifacts out = make_empty_artifacts(machine);
  for (std::string& text : nests)
    if (std::string object = loops::kernels().object(text); !object.empty())
      out.entries.push_back({kCpu, std::move(text), std::move(object)});
  return out;
}

std::string mismatch(const Artifacts& artifacts, const Machine& machine) {
  if (artifacts.library != loops::library_build())
    return cat("they were made by another build of the library (", artifacts.library, "; this one is ",
               loops::library_build(), ")");
  if (artifacts.machine != kind_of(machine))
    return cat("they are for another machine (", artifacts.machine, "; this one is ", kind_of(machine), ")");
  return "";
}

ArtifactCounts add_to_caches(Artifacts&& artifacts) {
  ArtifactCounts counts;
  const bool same_code = artifacts.generator == loops::generator();
  for (Artifact& a : artifacts.entries) {
    if (a.kind == kCpu) loops::kernels().add_object(a.key, std::move(a.blob), same_code), counts.cpu_kernels++;
    else if (a.kind == kCuda) nvidia::give_cubin(a.key, std::move(a.blob)), counts.cuda_kernels++;
    else if (a.kind == kChoice) set_choice(a.key, std::move(a.blob)), counts.product_choices++;
  }
  return counts;
}

ArtifactCounts load_cache_artifacts(const Machine& machine, std::string_view text) {
  Artifacts artifacts = unpack(text, "the text");
  if (const std::string why = mismatch(artifacts, machine); !why.empty())
    fail(Code::failed_precondition, "the kernels cannot be used: ", why);
  return add_to_caches(std::move(artifacts));
}

}  // namespace thunder
