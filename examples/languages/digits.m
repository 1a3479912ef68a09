% Trains an MLP on handwritten digits: digits.m DIGITS.csv
1;
function part = rows(tensor, first, last)
  part = tensor.slice(0, first, last);
end
function net = network()
  net = Thunder.module("Sequential", {}, struct("x0", Thunder.module("Linear", {64, 128}), "x1", Thunder.module("ReLU"), ...
    "x2", Thunder.module("Linear", {128, 10})));
end
function loss = forward_and_update(net, params, opt, x, y) % forward, loss, gradients and update: one program
  loss = Thunder.forward(net, x).cross_entropy(y);
  opt.step(Thunder.clip_grad_norm(Thunder.grad_of(loss, params), 1.0));
end

epochs = 5;
table = Thunder.read_csv(argv(){1});
images = table.slice(1, 0, 64) / 16;
labels = table.slice(1, 64, 65).squeeze(1).to("i64");

Thunder.seed(42);
net = network();
params = Thunder.parameters(net);
opt = Thunder.optimizer("AdamW", params, struct("lr", 4e-3));
batches = Thunder.batches({rows(images, 0, 1500), rows(labels, 0, 1500)}, struct("size", 32, "shuffle", true, "drop_last", true, "seed", 2));
schedule = Thunder.schedule("CosineAnnealingLR", opt, struct("T_max", int64(epochs * batches.count())));
step = Thunder.compile(@(x, y) forward_and_update(net, params, opt, x, y));

for epoch = 1:epochs
  while ! isempty(batch = batches.next_batch())
    loss = step(batch{:});
    schedule.step();
  end
  printf("epoch %d: loss %.4f, lr %.6f\n", epoch, item(loss), schedule.get_last_lr()(1));
end

model = tempname();
state = tempname();
Thunder.save(net, model);
opt.save(state);
again = network();
Thunder.load(again, model);
resumed = Thunder.optimizer("AdamW", Thunder.parameters(again), struct("lr", 1.0));
resumed.load(state);
delete(model);
delete(state);
resumed.set_lr(1e-4); % compiles nothing
printf("resumed at step %d, lr %.4f\n", resumed.get("step"), resumed.lr());

position = batches.state(); % and the order of the data
first = batches.next_batch(){2};
batches.set_state(position);
same = first.eq(batches.next_batch(){2});
printf("the same batch again: %d of 32 labels\n", item(same.sum()));
clipped = Thunder.clip_grad_value({images}, 0.5){1};
printf("clipped to %.1f\n", item(clipped.amax()));

predict = Thunder.compile(@(x) Thunder.forward(again, x).argmax(-1));
count = images.extents()(1);
right = predict(rows(images, 1500, count)).eq(rows(labels, 1500, count));
printf("%d of %d right, %d programs\n", item(right.sum()), count - 1500, stats(step).misses);
