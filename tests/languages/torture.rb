# Makes and drops tensors, functions and compiled functions in random order, with the collector running in between.
require "thunder"

random = Random.new(1)
slots = Array.new(12)
compiled = Array.new(4)
tensor = -> { slots.compact.sample(random: random) || Thunder.tensor([[1.0, 2.0], [3.0, 4.0]]) }
acts = [
  -> { slots[random.rand(12)] = Thunder.tensor([[random.rand, 2.0], [3.0, 4.0]]) },
  -> { slots[random.rand(12)] = tensor.call * 0.5 + tensor.call.tanh },
  -> { slots[random.rand(12)] = nil },
  -> { compiled[random.rand(4)] = nil },
  lambda {
    captured, own = tensor.call, nil
    own = Thunder.compile(executors: "host") { |a| own ? a * captured : a } # holds itself, by its own variable
    compiled[random.rand(4)] = random.rand < 0.5 ? own : own.value_and_grad if own
  },
  -> { begin; compiled.compact.sample(random: random)&.call(tensor.call); rescue Thunder::Error => e; e; end },
  lambda {
    begin
      Thunder.compile { |_| raise IOError, "no" }.call(tensor.call)
    rescue IOError => e
      e.message == "no" or abort "another message"
    end
  },
  lambda { # a jump that is no exception does not unwind the library
    begin
      catch(:out) { Thunder.compile { |_| throw :out }.call(tensor.call) }
      abort "a jump went through the library"
    rescue Thunder::Error => e
      e
    end
  },
  -> { Thread.new { slots[random.rand(12)] = tensor.call.neg }.join },
  -> { GC.start }
]
800.times { acts.sample(random: random).call }
slots.clear
compiled.clear
acts.clear
GC.start
left = ObjectSpace.each_object(Thunder::Compiled).count
abort "#{left} compiled functions were never collected" if left > 20

# Large tensors are small objects to the collector: it is told when to run.
x = Thunder.zeros([512, 512])
2000.times { x += 1 }
peak = File.read("/proc/self/status")[/VmHWM:\s+(\d+)/, 1].to_i / 1024
abort "the loop took #{peak} MB" if peak > 1200
puts "tortured"
