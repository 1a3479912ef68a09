# Trains an MLP on handwritten digits: digits.rb DIGITS.csv
require "thunder"
require "tmpdir"

EPOCHS = 5

def rows(tensor, first, last) = tensor.slice(dim: 0, start: first, end: last)

def network
  Thunder::Module.new("Sequential")
    .add(0, Thunder::Module.new("Linear", 64, 128)).add(1, Thunder::Module.new("ReLU")).add(2, Thunder::Module.new("Linear", 128, 10))
end

table = Thunder.read_csv(ARGV.fetch(0))
images, labels = table.slice(dim: 1, start: 0, end: 64) / 16, table.slice(dim: 1, start: 64, end: 65).squeeze(1).to("i64")

Thunder.seed(42)
net = network
params = net.parameters
opt = Thunder::Optimizer.new("AdamW", params, lr: 4e-3)
batches = Thunder::Batches.new([rows(images, 0, 1500), rows(labels, 0, 1500)], size: 32, shuffle: true, drop_last: true, seed: 2)
schedule = Thunder::Schedule.new("CosineAnnealingLR", opt, T_max: EPOCHS * batches.size)

step = Thunder.compile do |x, y| # forward, loss, gradients and update: one program
  loss = net.call(x).cross_entropy(y)
  gradients, _norm = Thunder.clip_grad_norm(Thunder.grad_of(loss, params), 1.0)
  opt.step(gradients)
  loss
end

EPOCHS.times do |epoch|
  loss = nil
  batches.each do |x, y|
    loss = step.(x, y)
    schedule.step
  end
  puts format("epoch %d: loss %.4f, lr %.6f", epoch + 1, loss.item, schedule.get_last_lr.first)
end

again = network
Dir.mktmpdir do |folder|
  net.save("#{folder}/net.safetensors")
  opt.save("#{folder}/opt.safetensors")
  again.load("#{folder}/net.safetensors")
  resumed = Thunder::Optimizer.new("AdamW", again.parameters, lr: 1.0).load("#{folder}/opt.safetensors")
  resumed.lr = 1e-4 # compiles nothing
  puts format("resumed at step %d, lr %.4f", resumed[:step], resumed.lr)
end

position = batches.state # and the order of the data
first = batches.first
batches.state = position
puts "the same batch again: #{batches.first[1].eq(first[1]).sum.item} of 32 labels"
puts format("clipped to %.1f", Thunder.clip_grad_value([images], 0.5).first.amax.item)

predict = Thunder.compile { |x| again.call(x).argmax(-1) }
count = images.size(0)
right = predict.(rows(images, 1500, count)).eq(rows(labels, 1500, count)).sum.item
puts "#{right} of #{count - 1500} right, #{step.stats['misses']} programs"
