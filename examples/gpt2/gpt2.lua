-- GPT-2, from a size for tests to XL: trains on a text file, and writes.
--
--   thunder run gpt2.lua train [--steps N] [--text FILE] [--save FILE]...
--   thunder run gpt2.lua sample --weights FILE [--prompt TEXT] [--temperature T] [--top-k N]...
--   thunder run gpt2.lua --help
local folder = arg[0]:match "^(.*/)[^/]*$" or "./"
package.path = folder .. "../?.lua;" .. package.path
require("text.program").run(require "gpt2.model", arg)
