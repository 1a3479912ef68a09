-- Training of a language model on one text: each step is one program, from the draw of its windows to AdamW.
local th = require "thunder"
local attempt = require "text.attempt"
local mistake = require "text.mistake"
local nn, optim = th.nn, th.optim
local train = {}

-- The mean cross entropy of each row's tokens after its first, rows being int64[batch, tokens].
function train.loss(net, rows)
  local last = rows.shape[2]
  local logits = net(rows[{ {}, { 1, last - 1 } }])
  return th.cross_entropy(logits:flatten(0, 1):to(th.float32), rows[{ {}, { 2, last } }]:flatten())
end

-- Forward, loss, backward, update, to be called in a compiled function.
function train.update(net, rows, parameters, optimizer, clip)
  local loss = train.loss(net, rows)
  local gradients = th.grad_of(loss, parameters)
  if clip then gradients = th.clip_grad_norm(gradients, clip) end
  optimizer:step(gradients)
  return loss
end

-- Everything that training goes on from, as one module: weights, optimizer, schedule, random numbers.
local function whole(net, optimizer, schedule)
  local all = nn.Module { net = net, optimizer = optimizer.state, schedule = schedule.state }
  all:register_buffer("random", th.random_state())
  return all
end

-- Nine tenths of the tokens to learn from, and the rest. Both hold at least one window of `length` and its next token.
function train.split(ids, length)
  local held_out = math.max(#ids // 10, length + 1)
  if #ids - held_out < length + 1 then
    mistake("the text has %d tokens; windows of %d need at least %d", #ids, length, 2 * length + 2)
  end
  local all = th.tensor(ids)
  return all[{ { 1, #ids - held_out } }]:clone(), all[{ { #ids - held_out + 1, #ids } }]:clone()
end

-- Windows of the held-out tokens, one behind the other, at most so many.
local WINDOWS = 16
local function held_out_rows(tokens, length)
  local rows = {}
  for first = 1, #tokens - length, length do
    if #rows < WINDOWS then rows[#rows + 1] = tokens[{ { first, first + length } }] end
  end
  return th.stack(rows)
end

-- options: steps, batch, length, lr, warmup, decay, clip, device, precision, parallel (a mesh whose ranks have a part of each batch), resume,
-- save, note (a function of step, steps, loss, held-out loss). Gives the losses of the steps that it ran.
function train.run(net, ids, options)
  local length = options.length
  local tokens, rest = train.split(ids, length)
  local parameters = net:parameters()
  local optimizer = optim.AdamW(parameters, { lr = options.lr, weight_decay = options.decay, betas = { 0.9, 0.95 } })
  local schedule = optim.WarmupCosineLR(optimizer, { warmup = math.min(options.warmup, options.steps - 1), T_max = options.steps, eta_min = options.lr / 10 })
  local all = whole(net, optimizer, schedule)
  if options.resume then attempt("resume", all.load, all, options.resume) end

  local mesh = options.parallel
  local function update()
    local first = th.randint(0, #tokens - length, { options.batch }) -- the same on all ranks
    if mesh then
      local part = options.batch // mesh:size "data"
      first = first[{ { part * mesh:index "data" + 1, part * (mesh:index "data" + 1) } }]
    end
    local rows = tokens:index { first:unsqueeze(1) + th.arange(length + 1) }:to(options.device)
    local loss = train.update(net, rows, parameters, optimizer, options.clip)
    return mesh and th.all_reduce(loss, "data", "mean") or loss
  end
  local step = th.compile(mesh and th.parallel.data(update, mesh, net) or update, { float32_matmul_precision = options.precision })
  local judge = th.compile(function(rows) return train.loss(net, rows:to(options.device)) end)
  local examined, losses = held_out_rows(rest, length), {}
  for i = math.tointeger(optimizer.state.step:item()) + 1, options.steps do
    net:train()
    local loss = step()
    schedule:step()
    losses[#losses + 1] = loss:item()
    if i % options.every == 0 or i == options.steps then
      if options.save then attempt("save", all.save, all, options.save) end
      net:eval()
      options.note(i, options.steps, losses[#losses], judge(examined):item())
    end
  end
  return losses
end

return train
