// The smoke program in C#: smoke MODEL.safetensors DIGITS.csv
using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.Threading;
using Thunder;

class Mine : Exception
{
    public readonly int Number;

    public Mine(string message, int number) : base(message) { Number = number; }
}

static class Smoke
{
    static void Show(string label, params object[] values)
    {
        var words = new List<string> { label };
        Action<object> add = null;
        add = value => {
            if (value is IEnumerable && !(value is string)) foreach (var element in (IEnumerable)value) add(element);
            else words.Add(value is float ? ((float)value).ToString("F4", CultureInfo.InvariantCulture) : value.ToString());
        };
        foreach (var value in values) add(value);
        Console.WriteLine(string.Join(" ", words));
    }

    static void Main(string[] args)
    {
        var x = Tensor.Of(new float[,] { { 1, 2 }, { 3, 4 } });
        Show("operators", (x * 2 + 1 - x / 2).ToArray());
        Show("negated", (-x).ToArray());
        Show("text", x.ToString());
        Show("reversed", (2 - x).ToArray());
        var i = Tensor.Of(new long[] { 12, 10, -7 });
        var operators = new Dictionary<string, Tensor> {
            { "0 -2 -3", i % -4 }, { "7 7 0", 7 % i }, { "4 2 0", 6 & i }, { "13 11 -7", i | 1 }, { "9 15 -4", i ^ 5 }, { "-13 -11 6", ~i },
            { "24 20 -14", i << 1 }, { "6 5 -4", i >> 1 }, { "14 12 -5", 2 + i } };
        foreach (var each in operators) {
            var got = string.Join(" ", each.Value.Flat<long>());
            if (got != each.Key) throw new Exception("an operator gave " + got + ", not " + each.Key);
        }
        Show("matmul", x.Matmul(x).ToArray());
        Show("named", x.Sum(dim: 1).ToArray());
        var names = new HashSet<string>();
        foreach (var method in typeof(Ops).GetMethods()) if (!method.Name.EndsWith("InPlace")) names.Add(method.Name);
        names.ExceptWith(new[] { "Equals", "GetHashCode", "GetType", "ToString" });
        Show("ops", names.Count);
        Show("integers", Tensor.Of(new long[] { long.MaxValue, long.MinValue, 9007199254740993 }).ToArray());

        var f = Th.Compile(a => (a.Matmul(a) + 1).Relu().Sum());
        Show("compiled", f.Call(x).Item(), f.Call(x).Item(), "misses", f.Stats()["misses"]);
        Show("gradient", ((Tensor)((List<object>)f.ValueAndGrad().Apply(x))[1]).ToArray());

        try { x.Matmul(Tensor.Of(new float[,] { { 1, 2, 3 } })); }
        catch (ThunderException e) { Show("error", e.Code, e.Message); }
        try { Th.Compile(a => a.Matmul(Ops.Ones(new[] { 3, 3 }))).Call(x); }
        catch (ThunderException e) { Show("traced error", e.Code); }
        try { Th.Compile((Tensor a) => { throw new Mine("mine", 42); }).Call(x); }
        catch (Mine e) { Show("raised", e.Message, e.Number); }

        var row = Th.Compile((a, n) => a.Mul(n).Sum());
        var sums = new object[4];
        var threads = new List<Thread>();
        for (int n = 0; n < 4; n++)
        {
            int mine = n;
            threads.Add(new Thread(() => sums[mine] = row.Call(x, mine + 1.0).Item()));
            threads[n].Start();
        }
        foreach (var thread in threads) thread.Join();
        Show("threads", sums);

        // The gradient is twice what it should be, which shows whose it is.
        Th.AddOp("square_plus(tensor x, float c=1.0) -> tensor", "x * x + c.", a => ((Tensor)a[0]).Mul(a[0]).Add(a[1]),
            a => new[] { ((Tensor)((List<object>)a[2])[0]).Mul(((List<object>)a[0])[0]) * 4 });
        var own = Th.Compile(a => Th.Op("square_plus", a).Sum());
        Show("own op", Th.Op("square_plus", x).ToArray(), "gradient",
            ((Tensor)((List<object>)own.ValueAndGrad().Apply(x))[1]).ToArray());

        var w = Tensor.Of(new float[] { 0, 0 });
        var y = Tensor.Of(new float[] { 5, 11 });
        var miss = Th.Compile(v => ((v - y) * (v - y) * y).Sum());
        var search = new Optimizer("LBFGS", new Dictionary<string, object> { { "0", w } }, "line_search_fn", "strong_wolfe");
        Show("lbfgs", search.StepClosure(miss.ValueAndGrad(), w).Item(), w.ToArray());

        Th.Seed(7);
        var drawn = Ops.InitOrthogonalInPlace(Ops.Zeros(new[] { 3, 4 })) + Ops.InitTruncNormalInPlace(Ops.Zeros(new[] { 3, 4 }));
        Show("init", (drawn.To("f64") * Math.Pow(2, 40)).To("i64").Sum().Item());

        Dictionary<string, object> info;
        var artifacts = Th.SaveCacheArtifacts(out info);
        Show("artifacts", (long)info["cpu_kernels"] - (long)Th.LoadCacheArtifacts(artifacts)["cpu_kernels"]);
        try { Th.LoadCacheArtifacts(x); }
        catch (ThunderException e) { Show("damaged", e.Code); }

        var net = new Module("Sequential").Add("0", new Module("Linear", 64, 32)).Add("1", new Module("ReLU"))
            .Add("2", new Module("Linear", 32, 10)).Load(args[0]);
        if (net.ToString() != net.Text()) throw new Exception("a module is printed as it says");
        // Each loop is an epoch of its own.
        var batches = new Batches(new[] { Tensor.Of(new long[] { 0, 1, 2, 3 }) }, size: 2);
        var count = 0;
        foreach (var batch in batches) break;
        foreach (var batch in batches)
        {
            if (batch[0].Flat<long>()[1] != 1) throw new Exception("a loop went on behind a break");
            break;
        }
        foreach (var outer in batches)
            foreach (var inner in batches) count++;
        if (count != 4) throw new Exception("nested loops read " + count + " batches");
        var rows = Th.ReadCsv(args[1]);
        var images = rows.Slice(dim: 1, start: 0, end: 64) / 16;
        var labels = rows.Slice(dim: 1, start: 64, end: 65).Squeeze(1).To("i64");
        var predict = Th.Compile(batch => net.Call(batch).Argmax(-1));
        var found = predict.Call(images);
        var first = new long[10];
        Array.Copy(found.Flat<long>(), first, 10);
        Show("digits", found.Eq(labels).Sum().Item(), "of", images.Size(0), "first", first);
        var loaded = Th.LoadProgram(predict.ExportOnnx(args[0] + ".cs.onnx", "opset", 20) == predict ? args[0] + ".cs.onnx" : "");
        if (!loaded.Signature().Contains("\"dims\":[1797,64]")) throw new Exception(loaded.Signature());
        Show("loaded", loaded.Call(images).Eq(labels).Sum().Item(), "parameters", loaded.ProgramModule().Parameters().Count);
        Show("relu", Th.Doc("relu").Split('\n')[1]);
    }
}
