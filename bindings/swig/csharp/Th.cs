using System;
using System.Collections.Generic;
using Thunder.Core;

namespace Thunder
{
    /// <summary>Thunder for C#: tensors from arrays, operators, delegates compiled.
    /// <code>
    /// var x = Tensor.Of(new float[,] { { 1, 2 }, { 3, 4 } });
    /// var f = Th.Compile(a => (a.Matmul(a) + 1).Relu().Sum());
    /// Console.WriteLine(f.Call(x).Item());
    /// </code></summary>
    public static class Th
    {
        public static Compiled Compile(Func<Tensor, object> body, params object[] options)
        {
            return CompileAll(args => body((Tensor)args[0]), options);
        }

        public static Compiled Compile(Func<Tensor, Tensor, object> body, params object[] options)
        {
            return CompileAll(args => body((Tensor)args[0], (Tensor)args[1]), options);
        }

        public static Compiled Compile(Func<Tensor, Tensor, Tensor, object> body, params object[] options)
        {
            return CompileAll(args => body((Tensor)args[0], (Tensor)args[1], (Tensor)args[2]), options);
        }

        /// <summary>Of any arguments; options are a name and a value in turn.</summary>
        public static Compiled CompileAll(Func<object[], object> body, params object[] options)
        {
            return new Compiled(body, null, null, options);
        }

        /// <summary>In a compiled function: the gradients of a loss, in the structure of wrt.</summary>
        public static object GradOf(Tensor loss, object wrt)
        {
            return Exchange.Perform(new[] { loss, wrt }, Exchange.Nothing, call => call.grad_of());
        }

        /// <summary>Gradients scaled so that their norm together is at most maxNorm, in their structure, and the norm before.</summary>
        public static object ClipGradNorm(object gradients, double maxNorm, out Tensor norm)
        {
            var made = (List<object>)Exchange.Perform(new[] { gradients }, Exchange.Nothing, call => call.clip_grad_norm(maxNorm));
            norm = (Tensor)made[1];
            return made[0];
        }

        public static object ClipGradNorm(object gradients, double maxNorm)
        {
            Tensor norm;
            return ClipGradNorm(gradients, maxNorm, out norm);
        }

        /// <summary>Each element bounded to [-bound, bound].</summary>
        public static object ClipGradValue(object gradients, double bound)
        {
            return Exchange.Perform(new[] { gradients }, Exchange.Nothing, call => call.clip_grad_value(bound));
        }

        private static object Do(Func<Call, object> action)
        {
            return Exchange.Perform(Exchange.Nothing, Exchange.Nothing, action);
        }

        public static void Seed(long seed) { Do(call => call.seed(seed)); }
        /// <summary>How tensors are printed from now on: precision, threshold, edgeitems, linewidth, profile, sci_mode, as PyTorch has them.</summary>
        public static void SetPrintOptions(params object[] options)
        {
            Exchange.Perform(Exchange.Nothing, options, call => call.set_printoptions());
        }
        /// <summary>All kernels that this process has compiled or found on disk, as a u8 tensor for another one, and how many of
        /// what they are.</summary>
        public static Tensor SaveCacheArtifacts(out Dictionary<string, object> info)
        {
            var made = (List<object>)Do(call => call.save_cache_artifacts());
            info = (Dictionary<string, object>)made[1];
            return (Tensor)made[0];
        }

        /// <summary>Takes those kernels in place of compiling the same ones, and returns how many: they are machine code, which
        /// will run.</summary>
        public static Dictionary<string, object> LoadCacheArtifacts(Tensor artifacts)
        {
            return (Dictionary<string, object>)Do(call => call.load_cache_artifacts(artifacts.Core));
        }

        public static void LoadPlugin(string path) { Do(call => call.load_plugin(path)); }
        public static Tensor ReadCsv(string path) { return (Tensor)Do(call => call.read_csv(path)); }
        public static Tensor ReadNpy(string path) { return (Tensor)Do(call => call.read_npy(path)); }

        public static Dictionary<string, object> ReadSafetensors(string path)
        {
            return (Dictionary<string, object>)Do(call => call.read_safetensors(path));
        }

        public static void WriteSafetensors(Dictionary<string, Tensor> map, string path)
        {
            Exchange.Perform(new object[] { map }, Exchange.Nothing, call => call.write_safetensors(path));
        }

        /// <summary>An op by name: one of your own.</summary>
        public static Tensor Op(string name, params object[] arguments) { return (Tensor)Exchange.Op(name, arguments); }

        /// <summary>An op of your own, for ever: the body computes it from its arguments by other ops. vjp gets lists of the
        /// arguments, the results, their cotangents and which gradients are wanted, and returns a gradient for each
        /// argument; without it, it is that of the body.</summary>
        public static void AddOp(string schema, string doc, Func<object[], object> body, Func<object[], object> vjp = null)
        {
            long made = Exchange.Keep(body), gradient = vjp == null ? 0 : Exchange.Keep(vjp);
            Do(call => call.add_op(schema, doc, made, gradient));
        }

        /// <summary>Rules such as "div(a, sqrt(b)) -> mul(a, rsqrt(b))", as a pass of every compile from now on.</summary>
        public static void AddPass(string name, string[] rules, string before = "", string after = "")
        {
            Exchange.Perform(rules, Exchange.Nothing, call => call.add_pass(name, before, after));
        }

        /// <summary>The registry's rows of "ops", "modules", "optimizers", "schedules", "options", "executors".</summary>
        public static List<object> Describe(string what) { return (List<object>)Do(call => call.describe(what)); }

        /// <summary>What an op does.</summary>
        public static string Doc(string op)
        {
            foreach (Dictionary<string, object> row in Describe("ops"))
                if ((string)row["name"] == op) return (string)row["doc"];
            throw new ThunderException("there is no op " + op, 5);
        }

        public static string Version { get { return ThunderCore.version(); } }
    }

    /// <summary>A function of tensors, compiled. Calls may come from any thread.</summary>
    public sealed class Compiled : IDisposable
    {
        private readonly Closure closure; // null: of the library
        private readonly Compiled origin;
        private readonly Function function;
        internal readonly Core.Compiled core;

        internal Compiled(Func<object[], object> body, Compiled origin, Function given, params object[] options)
        {
            closure = body == null ? null : new Closure(body);
            this.origin = origin;
            function = given ?? (Function)Exchange.Perform(Exchange.Nothing, Exchange.Nothing,
                call => call.make_function("", Exchange.TicketOf(closure)));
            core = (Core.Compiled)Exchange.Perform(Exchange.Nothing, options, call => call.compile(function));
        }

        /// <summary>What the function returns: a tensor, or a list or dictionary of them.</summary>
        public object Apply(params object[] arguments)
        {
            var result = Exchange.Perform(arguments, Exchange.Nothing, call => call.call(core));
            GC.KeepAlive(this); // a trace needs the delegate until the end
            GC.KeepAlive(origin);
            return result;
        }

        public Tensor Call(params object[] arguments) { return (Tensor)Apply(arguments); }

        /// <summary>The same function, returning its results and the gradients of the first.</summary>
        public Compiled ValueAndGrad(string wrt = "")
        {
            var made = (Function)Exchange.Perform(Exchange.Nothing, Exchange.Nothing, call => call.value_and_grad(function, wrt));
            return new Compiled(null, this, made);
        }

        public int TraceCount { get { return core.trace_count(); } }
        public string Trace(int stage) { return core.trace(stage); }
        public string LastMiss { get { return core.last_miss(); } }

        public Dictionary<string, object> Stats()
        {
            return (Dictionary<string, object>)Exchange.Perform(Exchange.Nothing, Exchange.Nothing, call => call.statistics(core));
        }

        public void Dispose()
        {
            core.Dispose();
            function.Dispose();
        }
    }

    /// <summary>A layer or a tree of layers, of the kinds that the library has.</summary>
    public sealed class Module
    {
        internal readonly Core.Module Core;
        private readonly Dictionary<string, Module> children = new Dictionary<string, Module>();

        public Module(string kind, params object[] arguments)
        {
            Core = (Core.Module)Exchange.Perform(arguments, Exchange.Nothing, call => call.make_module(kind));
        }

        private Module Do(Func<Call, object> action)
        {
            Exchange.Perform(Exchange.Nothing, Exchange.Nothing, action);
            return this;
        }

        public Module Add(string name, Module child)
        {
            children[name] = child;
            return Do(call => call.add_child(Core, name, child.Core));
        }

        public Tensor Call(params object[] arguments)
        {
            return (Tensor)Exchange.Perform(arguments, Exchange.Nothing, call => call.forward(Core));
        }

        public Dictionary<string, object> Parameters()
        {
            return (Dictionary<string, object>)Exchange.Perform(Exchange.Nothing, Exchange.Nothing, call => call.parameters(Core));
        }

        public Module Train(bool on = true) { return Do(call => call.train(Core, on)); }
        public Module Save(string path) { return Do(call => call.save(Core, path)); }
        public Module Load(string path) { return Do(call => call.load(Core, path)); }
    }
}
