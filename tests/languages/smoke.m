% The smoke program in Octave: smoke.m MODEL.safetensors DIGITS.csv
1;
function show(label, varargin)
  words = {label};
  for i = 1:numel(varargin)
    value = varargin{i};
    if ischar(value), words{end + 1} = value;
    elseif isfloat(value), words = [words, arrayfun(@(one) sprintf("%.4f", one), value(:).', "UniformOutput", false)];
    else, words = [words, arrayfun(@(one) sprintf("%d", one), value(:).', "UniformOutput", false)];
    end
  end
  printf("%s\n", strjoin(words, " "));
end
function result = failing(a)
  error("mine:42", "mine");
end

given = argv();
x = Thunder.tensor([1 2; 3 4]);
show("operators", elements(x * 2 + 1 - x / 2));
show("negated", elements(-x));
show("text", text(x));
show("reversed", elements(2 - x));
if ! isequal(elements(mod(Thunder.tensor(int64([12; 10; -7])), int64(-4)))(:), int64([0; -2; -3])), error("mod gave something else"); end
show("matmul", elements(x * x));
show("named", elements(x.sum(struct("dim", 1))));
show("ops", int64(numel(Thunder.describe("ops"))));
show("integers", elements(Thunder.tensor([intmax("int64"), intmin("int64"), int64(9007199254740993)])));

f = Thunder.compile(@(a) (a * a + 1).relu().sum());
show("compiled", item(f(x)), item(f(x)), "misses", stats(f).misses);
both = value_and_grad(f)(x);
show("gradient", elements(both{2}));

try
  x.matmul(Thunder.tensor([1 2 3]));
catch e
  show("error", int64(str2double(e.identifier(13:end))), e.message);
end
try
  Thunder.compile(@(a) a * Thunder.op("ones", [3 3]))(x);
catch e
  show("traced error", int64(str2double(e.identifier(13:end))));
end
try
  Thunder.compile(@failing)(x);
catch e
  show("raised", e.message, int64(str2double(e.identifier(6:end))));
end

% Octave has one thread.
row = Thunder.compile(@(a, n) Thunder.op("sum", a .* n));
show("threads", arrayfun(@(n) item(row(x, n)), [1 2 3 4]));

% The gradient is twice what it should be, which shows whose it is.
Thunder.add_op("square_plus(tensor x, float c=1.0) -> tensor", "x * x + c.", @(a, c) a .* a + c, ...
  @(args, results, cotangents, wanted) {cotangents{1} .* args{1} .* 4});
own = Thunder.compile(@(a) a.square_plus().sum());
both = value_and_grad(own)(x);
show("own op", elements(x.square_plus()), "gradient", elements(both{2}));

w = Thunder.tensor([0 0]);
y = Thunder.tensor([5 11]);
miss = Thunder.compile(@(v) Thunder.op("sum", (v - y) .* (v - y) .* y));
search = Thunder.optimizer("LBFGS", {w}, struct("line_search_fn", "strong_wolfe"));
show("lbfgs", item(search.step_closure(value_and_grad(miss), w)), elements(w));

Thunder.seed(7);
shape = Thunder.op("zeros", {3, 4});
drawn = Thunder.op("init_orthogonal_", shape) + Thunder.op("init_trunc_normal_", Thunder.op("zeros", {3, 4}));
show("init", item(drawn.to("f64").mul(2 ^ 40).to("i64").sum()));

[artifacts, info] = Thunder.save_cache_artifacts();
show("artifacts", info.cpu_kernels - Thunder.load_cache_artifacts(artifacts).cpu_kernels);
try
  Thunder.load_cache_artifacts(x);
catch e
  show("damaged", int64(str2double(e.identifier(13:end))));
end

net = Thunder.module("Sequential", {}, struct("x0", Thunder.module("Linear", {64, 32}), "x1", Thunder.module("ReLU"), ...
  "x2", Thunder.module("Linear", {32, 10})));
Thunder.load(net, given{1});
rows = Thunder.read_csv(given{2});
images = rows.slice(1, 0, 64) / 16;
labels = rows.slice(1, 64, 65).squeeze(1).to("i64");
predict = Thunder.compile(@(batch) Thunder.forward(net, batch).argmax(-1));
found = predict(images);
show("digits", item(found.eq(labels).sum()), "of", int64(images.extents()(1)), "first", elements(found)(1:10));
model = [given{1} ".m.onnx"];
export_onnx(predict, model, struct("opset", 20));
loaded = Thunder.load_program(model);
if isempty(strfind(signature(loaded), "\"dims\":[1797,64]")), error(signature(loaded)); end
show("loaded", item(loaded(images).eq(labels).sum()), "parameters", int64(numel(keys(program_module(loaded).parameters()))));
show("relu", strsplit(Thunder.doc("relu"), "\n"){2});
