-- Llama, from a size for tests to 13 billion parameters: trains on a text file, and writes.
--
--   thunder run llama.lua train [--steps N] [--text FILE] [--save FILE]...
--   thunder run llama.lua sample --weights FILE [--prompt TEXT] [--temperature T] [--top-k N]...
--   thunder run llama.lua --help
local folder = arg[0]:match "^(.*/)[^/]*$" or "./"
package.path = folder .. "../?.lua;" .. package.path
require("text.program").run(require "llama.model", arg)
