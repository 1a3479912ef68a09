using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics;
using System.Runtime.ExceptionServices;
using Thunder.Core;

namespace Thunder
{
    /// <summary>What the library refused; the code is the number of thunder.h. What a delegate threw comes back as
    /// itself.</summary>
    public sealed class ThunderException : Exception
    {
        public int Code { get; private set; }

        public ThunderException(string message, int code) : base(message) { Code = code; }
    }

    /// <summary>A list of integers, or one.</summary>
    public sealed class Dims
    {
        internal readonly object Value;

        private Dims(object value) { Value = value; }
        public static implicit operator Dims(long one) { return new Dims(one); }
        public static implicit operator Dims(int one) { return new Dims((long)one); }
        public static implicit operator Dims(long[] list) { return list == null ? null : new Dims(list); }
        public static implicit operator Dims(int[] list) { return list == null ? null : new Dims(list); }
        public static implicit operator Dims(string name) { return name == null ? null : new Dims(name); } // padding: "same"
    }

    /// <summary>What owns a delegate; the compiled function holds it.</summary>
    internal sealed class Closure
    {
        internal readonly Func<object[], object> Body;

        internal Closure(Func<object[], object> body) { Body = body; }
    }

    /// <summary>Between the values of .NET and what the core's calls carry.</summary>
    internal static class Exchange
    {
        // Exceptions on their way through the library, and what owns a delegate, by ticket. Guarded by the lock of raised.
        private static readonly Dictionary<long, ExceptionDispatchInfo> raised = new Dictionary<long, ExceptionDispatchInfo>();
        private static readonly Dictionary<long, WeakReference<Closure>> closures = new Dictionary<long, WeakReference<Closure>>();
        private static readonly List<Closure> kept = new List<Closure>(); // of ops
        private static readonly Runner runner = new Runner(); // the library knows it for ever

        private sealed class Runner : Dispatcher
        {
            public override void run(long ticket) { Exchange.Run(ticket); }
        }

        static Exchange() { ThunderCore.set_dispatcher(runner); }

        internal static readonly object[] Nothing = new object[0];

        /// <summary>Performs an action over items; named is a name and a value in turn, and null is left out.</summary>
        internal static object Perform(object[] items, object[] named, Func<Call, object> action)
        {
            using (var call = new Call())
            {
                foreach (var item in items) Put(call, item);
                for (int i = 0; i + 1 < named.Length; i += 2)
                {
                    if (named[i + 1] == null) continue;
                    call.key((string)named[i]);
                    Put(call, named[i + 1]);
                }
                var made = action(call);
                if (call.failed()) Throw(call);
                return made is bool ? Result(call) : made;
            }
        }

        internal static object Op(string name, object[] items, params object[] named)
        {
            return Perform(items, named, call => call.op(name, Place()));
        }

        internal static Tensor[] Tensors(object made)
        {
            if (made is Tensor) return new[] { (Tensor)made };
            var list = (List<object>)made;
            return list.ConvertAll(one => (Tensor)one).ToArray();
        }

        private static void Throw(Call call)
        {
            ExceptionDispatchInfo found;
            lock (raised) raised.TryGetValue(call.ticket(), out found);
            if (found != null) found.Throw();
            throw new ThunderException(call.message(), call.code());
        }

        internal static void Put(Call call, object value)
        {
            if (value is Dims) value = ((Dims)value).Value;
            if (value == null) call.none();
            else if (value is Tensor) call.tensor(((Tensor)value).Core);
            else if (value is bool) call.flag((bool)value);
            else if (value is float || value is double) call.real(Convert.ToDouble(value));
            else if (value is int || value is long || value is byte || value is short) call.integer(Convert.ToInt64(value));
            else if (value is string) call.text((string)value);
            else if (value is IDictionary) PutMap(call, (IDictionary)value);
            else if (value is IEnumerable) PutList(call, (IEnumerable)value);
            else throw new ThunderException("a " + value.GetType() + " cannot go into the library", 3);
        }

        private static void PutMap(Call call, IDictionary map)
        {
            call.open_map();
            foreach (DictionaryEntry entry in map)
            {
                call.key(entry.Key.ToString());
                Put(call, entry.Value);
            }
            call.close();
        }

        private static void PutList(Call call, IEnumerable list)
        {
            call.open_list();
            foreach (var value in list) Put(call, value);
            call.close();
        }

        private static object Take(Call call, Kind kind)
        {
            switch (kind)
            {
                case Kind.ITEM_BOOLEAN: return call.as_integer() != 0;
                case Kind.ITEM_INTEGER: return call.as_integer();
                case Kind.ITEM_REAL: return call.as_real();
                case Kind.ITEM_TEXT: return call.as_text();
                case Kind.ITEM_TENSOR: return TakeTensor(call);
                case Kind.ITEM_LIST: return TakeUntil(call, Kind.ITEM_CLOSE);
                case Kind.ITEM_MAP: return TakeMap(call);
                default: return null;
            }
        }

        private static Tensor TakeTensor(Call call)
        {
            if (ThunderCore.should_collect())
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
            return new Tensor(call.as_tensor());
        }

        private static List<object> TakeUntil(Call call, Kind end)
        {
            var list = new List<object>();
            for (var kind = (Kind)call.next(); kind != end; kind = (Kind)call.next()) list.Add(Take(call, kind));
            return list;
        }

        private static Dictionary<string, object> TakeMap(Call call)
        {
            var map = new Dictionary<string, object>();
            for (var kind = (Kind)call.next(); kind != Kind.ITEM_CLOSE; kind = (Kind)call.next())
            {
                var name = call.name();
                map[name] = Take(call, kind);
            }
            return map;
        }

        private static object Result(Call call)
        {
            var list = TakeUntil(call, Kind.ITEM_END);
            return list.Count > 1 ? list : list.Count == 0 ? null : list[0];
        }

        private static long NewTicket()
        {
            lock (raised)
            {
                for (var dropped = ThunderCore.next_dropped(); dropped != 0; dropped = ThunderCore.next_dropped())
                {
                    raised.Remove(dropped);
                    closures.Remove(dropped);
                }
                return ThunderCore.new_ticket();
            }
        }

        /// <summary>Whoever holds the compiled function holds its delegate.</summary>
        internal static long TicketOf(Closure owner)
        {
            var ticket = NewTicket();
            lock (raised) closures[ticket] = new WeakReference<Closure>(owner);
            return ticket;
        }

        /// <summary>The ticket of a delegate that is never dropped.</summary>
        internal static long Keep(Func<object[], object> body)
        {
            var owner = new Closure(body);
            lock (raised) kept.Add(owner);
            return TicketOf(owner);
        }

        private static void Run(long ticket)
        {
            var call = ThunderCore.callback();
            try
            {
                WeakReference<Closure> weak;
                Closure owner = null;
                lock (raised) closures.TryGetValue(ticket, out weak);
                if (weak == null || !weak.TryGetTarget(out owner))
                    throw new ThunderException("the function was collected: keep what was compiled", 0);
                var made = owner.Body(TakeUntil(call, Kind.ITEM_END).ToArray());
                call.reset();
                Put(call, made);
            }
            catch (Exception thrown)
            {
                var id = NewTicket();
                lock (raised) raised[id] = ExceptionDispatchInfo.Capture(thrown);
                call.fail(thrown.GetType().Name + ": " + thrown.Message, id);
            }
        }

        /// <summary>The line of the user's program, for traces; it has one when there are symbols.</summary>
        private static string Place()
        {
            if (!ThunderCore.is_tracing()) return "";
            foreach (var frame in new StackTrace(true).GetFrames())
            {
                var method = frame.GetMethod();
                var space = method.DeclaringType == null ? "" : method.DeclaringType.Namespace ?? "";
                if (frame.GetFileName() != null && !space.StartsWith("Thunder"))
                    return frame.GetFileName() + ":" + frame.GetFileLineNumber();
            }
            return "";
        }
    }
}
