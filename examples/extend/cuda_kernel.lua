-- Kernels of one's own for CUDA devices: one that gives an op a kernel, one that takes an op of the library's over.
--   thunder run examples/extend/cuda_kernel.lua
-- Without a CUDA device it says so, and computes on the CPU alone.
local th = require "thunder"

-- Swish with a factor: x * sigmoid(c * x). One text serves every dtype: x_t is the type of x's elements.
th.op {
  schema = "mine.swish(tensor x, float c=1.0) -> tensor",
  doc = "x * sigmoid(c * x).",
  elementwise = true,
  decompose = function(x, c) return x * th.sigmoid(x * c) end,
  cuda = {
    symbol = "swish",
    source = [[
extern "C" __global__ void swish(const x_t* x, float c, out_t* out, long long n) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
    const float v = (float)x[i];
    out[i] = (out_t)(v / (1.0f + expf(-c * v)));
  }
}]],
    parameters = "x, float c, out, x.numel",
    grid = "min(ceildiv(x.numel, 256), 65535)",
    block = 256,
  },
}

-- A softmax of rows, a warp for each, instead of the library's.
local mine = th.executor {
  name = "warp_softmax",
  register = false,
  ops = {
    softmax = {
      checker = function(line)
        local x = line.inputs[1]
        return x.dtype == th.float32 and #x.shape == 2 and (line.args.dim == 1 or line.args.dim == -1)
      end,
      cuda = {
        symbol = "warp_softmax",
        source = [[
extern "C" __global__ void warp_softmax(const float* x, float* out, int rows, int columns) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (row >= rows) return;
  x += (long long)row * columns, out += (long long)row * columns;
  float most = -3.4e38f, total = 0;
  for (int i = lane; i < columns; i += WIDTH) most = fmaxf(most, x[i]);
#if WIDTH > 1
  for (int step = 16; step; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
#endif
  for (int i = lane; i < columns; i += WIDTH) total += expf(x[i] - most);
#if WIDTH > 1
  for (int step = 16; step; step /= 2) total += __shfl_xor_sync(0xffffffffu, total, step);
#endif
  for (int i = lane; i < columns; i += WIDTH) out[i] = expf(x[i] - most) / total;
}]],
        options = { "-DWIDTH=32", "--use_fast_math" },
        parameters = "input, out, int input.size(0), int input.size(1)",
        grid = "ceildiv(input.size(0), 4)",
        block = { 32, 4 },
      },
    },
  },
}

local function f(x) return th.softmax(th.mine.swish(x, 1.5), 1) end
local x = th.randn(6, 100)
local expected = th.compile(f)(x)
if not th.cuda.is_available() then
  print("no CUDA device; on the CPU:", expected[{ 1, { 1, 3 } }])
  return
end

local compiled = th.compile(f, { executors = { mine } })
local got = compiled(x:to "cuda"):to "cpu"
print(th.last_traces(compiled)[#th.last_traces(compiled)])
assert(th.allclose(got, expected, 1e-5, 1e-6), "the kernels give something else")
print("the kernels give what the CPU does:", got[{ 1, { 1, 3 } }])
