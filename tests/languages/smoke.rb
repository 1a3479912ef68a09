# The smoke program in Ruby: smoke.rb MODEL.safetensors DIGITS.csv
require "thunder"

MODEL, CSV = ARGV

class Mine < StandardError
  attr_reader :number

  def initialize(message, number)
    super(message)
    @number = number
  end
end

def show(label, *values)
  puts [label, *values.flatten.map { |value| value.is_a?(Float) ? format("%.4f", value) : value }].join(" ")
end

x = Thunder.tensor([[1.0, 2.0], [3.0, 4.0]])
show "operators", (x * 2 + 1 - x / 2).to_a
show "negated", (-x).to_a
show "text", x
begin
  Thunder.tensor([[1, 2], [3]])
rescue Thunder::Error => e
  raise e unless e.message == "tensor: the lists are not those of one shape: a list of 1 stands where a list of 2 is expected"
end
show "reversed", (2 - x).to_a
i, precise = Thunder.tensor([12, 10, -7]), Thunder.tensor([0.5], dtype: "f64")
[[i % -4, [0, -2, -3]], [7 % i, [7, 7, 0]], [i & 6, [4, 2, 0]], [6 & i, [4, 2, 0]], [i | 1, [13, 11, -7]], [i ^ 5, [9, 15, -4]], [~i, [-13, -11, 6]],
 [i << 1, [24, 20, -14]], [i >> 1, [6, 5, -4]], [2 * i, [24, 20, -14]], [0.1 + precise, [0.6]], [precise * 0.1, [0.05]]].each do |got, wanted|
  raise "an operator gave #{got.to_a}, not #{wanted}" unless got.to_a == wanted
end
show "matmul", x.matmul(x).to_a
show "named", x.sum(dim: 1).to_a
show "ops", Thunder::OPS.count { |name, row| Thunder.respond_to?(name) && !row["doc"].empty? }
show "integers", Thunder.tensor([2**63 - 1, -2**63, 2**53 + 1]).to_a

f = Thunder.compile { |a| (a.matmul(a) + 1).relu.sum }
show "compiled", f.(x).item, f.(x).item, "misses", f.stats["misses"]
show "gradient", f.value_and_grad.(x).last.to_a

begin
  x.matmul(Thunder.tensor([[1.0, 2.0, 3.0]]))
rescue Thunder::Error => e
  show "error", e.code, e.message
end
begin
  Thunder.compile { |a| a.matmul(Thunder.ones([3, 3])) }.(x)
rescue Thunder::Error => e
  show "traced error", e.code
end
begin
  Thunder.compile { |_| raise Mine.new("mine", 42) }.(x)
rescue Mine => e
  show "raised", e.message, e.number
end

row = Thunder.compile { |a, n| (a * n).sum }
show "threads", (1..4).map { |n| Thread.new { row.(x, n.to_f).item } }.map(&:value)

# The gradient is twice what it should be, which shows whose it is.
Thunder.add_op("square_plus(tensor x, float c=1.0) -> tensor", "x * x + c.",
               vjp: ->((a, _), _, (g), _) { [g * a * 4] }) { |a, c| a * a + c }
own = Thunder.compile { |a| a.square_plus.sum }
show "own op", x.square_plus.to_a, "gradient", own.value_and_grad.(x).last.to_a

w, y = Thunder.tensor([0.0, 0.0]), Thunder.tensor([5.0, 11.0])
miss = Thunder.compile { |v| ((v - y) * (v - y) * y).sum }
search = Thunder::Optimizer.new("LBFGS", [w], line_search_fn: "strong_wolfe")
show "lbfgs", search.step_closure(miss.value_and_grad, w).item, w.to_a

Thunder.seed(7)
drawn = Thunder.init_orthogonal_(Thunder.zeros([3, 4])) + Thunder.init_trunc_normal_(Thunder.zeros([3, 4]))
show "init", (drawn.to("f64") * 2.0**40).to("i64").sum.item

artifacts, info = Thunder.save_cache_artifacts
show "artifacts", info["cpu_kernels"] - Thunder.load_cache_artifacts(artifacts)["cpu_kernels"]
begin
  Thunder.load_cache_artifacts(x)
rescue Thunder::Error => e
  show "damaged", e.code
end

net = Thunder::Module.new("Sequential")
net.add(0, Thunder::Module.new("Linear", 64, 32)).add(1, Thunder::Module.new("ReLU")).add(2, Thunder::Module.new("Linear", 32, 10))
net.load(MODEL)
raise net.text unless net.text.start_with?("Sequential(") && net.text.include?("(0): Linear(in_features=64, out_features=32")
raise search.text unless search.text.start_with?("LBFGS")
raise "puts shows #{net}" unless net.to_s == net.text
z = Thunder.tensor([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
[[z[0], [1, 2, 3]], [z[-1, 1], 8], [z[1..], [[4, 5, 6], [7, 8, 9]]], [z[0..1, 0], [1, 4]], [z[0...-1, -2..-1], [[2, 3], [5, 6]]],
 [z[Thunder.tensor([2, 0]), 0], [7, 1]]].each { |got, wanted| raise "[] gave #{got.to_a}, not #{wanted}" unless got.to_a == wanted }
z[0, 1..] = 0
z[1] = z[2]
raise "[]= left #{z.to_a}" unless z.to_a == [[1, 0, 0], [7, 8, 9], [7, 8, 9]]

# Each loop is an epoch of its own.
batches, count = Thunder::Batches.new([Thunder.tensor([0, 1, 2, 3])], size: 2), 0
batches.each { break }
raise "a loop went on behind a break" unless batches.first.to_a == [0, 1]
batches.each { batches.each { count += 1 } }
raise "nested loops read #{count} batches" unless count == 4
rows = Thunder.read_csv(CSV)
images, labels = rows.slice(dim: 1, start: 0, end: 64) / 16, rows.slice(dim: 1, start: 64, end: 65).squeeze(1).to("i64")
predict = Thunder.compile { |batch| net.call(batch).argmax(-1) }
found = predict.(images)
show "digits", found.eq(labels).sum.item, "of", images.size(0), "first", found.to_a.first(10)
loaded = Thunder.load_program("#{MODEL}.rb.onnx") if predict.export_onnx("#{MODEL}.rb.onnx", opset: 20).equal?(predict)
raise loaded.signature unless loaded.signature.include?('"dims":[1797,64]')
show "loaded", loaded.(images).eq(labels).sum.item, "parameters", loaded.program_module.parameters.size
begin
  predict.program_module
rescue Thunder::Error => e
  raise e unless e.message.include?("no module of weights")
end
show "relu", Thunder.doc("relu").lines[1]
