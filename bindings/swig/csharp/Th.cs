using System;
using System.Collections;
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

        /// <summary>Compiles a function of any number of arguments; options are alternating names and values.</summary>
        public static Compiled CompileAll(Func<object[], object> body, params object[] options)
        {
            return new Compiled(body, null, null, options);
        }

        // @functions@

        /// <summary>An op by name: one of your own.</summary>
        public static Tensor Op(string name, params object[] arguments) { return (Tensor)Exchange.Op(name, arguments); }

        /// <summary>An op of your own, for ever: the body computes it from its arguments by other ops. vjp gets lists of the
        /// arguments, the results, their cotangents and which gradients are wanted, and returns a gradient for each
        /// argument; without it, it is that of the body.</summary>
        public static void AddOp(string schema, string doc, Func<object[], object> body, Func<object[], object> vjp = null)
        {
            long made = Exchange.Keep(body), gradient = vjp == null ? 0 : Exchange.Keep(vjp);
            Exchange.Perform(Exchange.Nothing, Exchange.Nothing, call => call.add_op(schema, doc, made, gradient));
        }

        public static string Version { get { return ThunderCore.version(); } }
    }

    /// <summary>A function of tensors, compiled. Calls may come from any thread.</summary>
    public sealed class Compiled : IDisposable
    {
        private readonly Closure closure; // null: a function of the library's
        private readonly Compiled origin;
        internal readonly Core.Compiled Core;

        internal Compiled(Func<object[], object> body, Compiled origin, Function given, params object[] options)
        {
            closure = body == null ? null : new Closure(body);
            this.origin = origin;
            using (var function = given ?? (Function)Exchange.Perform(Exchange.Nothing, Exchange.Nothing,
                call => call.make_function("", Exchange.TicketOf(closure))))
                Core = (Core.Compiled)Exchange.Perform(Exchange.Nothing, options, call => call.compile(function));
        }

        /// <summary>Loads a program from a file.</summary>
        internal Compiled(Core.Compiled made) { Core = made; }

        /// <summary>What the function returns: a tensor, or a list or dictionary of them.</summary>
        public object Apply(params object[] arguments)
        {
            var result = Exchange.Perform(arguments, Exchange.Nothing, call => call.call(Core));
            GC.KeepAlive(this); // a trace needs the delegate until the end
            GC.KeepAlive(origin);
            return result;
        }

        public Tensor Call(params object[] arguments) { return (Tensor)Apply(arguments); }

        /// <summary>The same function, returning its results and the gradients of the first.</summary>
        public Compiled ValueAndGrad(string wrt = "")
        {
            var made = (Function)Exchange.Perform(Exchange.Nothing, Exchange.Nothing, call => call.value_and_grad(Core, wrt));
            return new Compiled(null, this, made);
        }

        // @members Compiled@

        public void Dispose() { Core.Dispose(); }
    }

    // @classes@
}
