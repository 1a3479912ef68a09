/* run_kernel FILE: calls the kernel that it is linked with on what the file holds, and writes what is left there. Words of 64
 * bits, then bytes: how many buffers, parameters and work items; the parameters; the bytes of each buffer; the buffers. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void kernel(void* const* buffers, const int64_t* parameters, int64_t begin, int64_t end, int64_t* index_error);

enum { kMost = 64 };

int main(int argc, char** argv) {
  int64_t counts[3], sizes[kMost], parameters[4 * kMost], index_error[2] = {-1, 0};
  void* buffers[kMost];
  FILE* file = argc == 2 ? fopen(argv[1], "r+b") : NULL;
  if (!file || fread(counts, sizeof *counts, 3, file) != 3 || counts[0] > kMost || counts[1] > 4 * kMost) return 2;
  if (fread(parameters, sizeof *parameters, (size_t)counts[1], file) != (size_t)counts[1]) return 2;
  if (fread(sizes, sizeof *sizes, (size_t)counts[0], file) != (size_t)counts[0]) return 2;
  const long data = ftell(file);
  for (int64_t i = 0; i < counts[0]; i++) {
    buffers[i] = aligned_alloc(64, ((size_t)sizes[i] + 63) / 64 * 64);
    if (!buffers[i] || fread(buffers[i], 1, (size_t)sizes[i], file) != (size_t)sizes[i]) return 2;
  }
  kernel(buffers, parameters, 0, counts[2], index_error);
  fseek(file, data, SEEK_SET);
  for (int64_t i = 0; i < counts[0]; i++)
    if (fwrite(buffers[i], 1, (size_t)sizes[i], file) != (size_t)sizes[i]) return 2;
  return fclose(file) || index_error[0] >= 0;
}
