// Makes and drops tensors, functions and compiled functions in random order on two threads, with the collector running.
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import thunder.Compiled;
import thunder.Tensor;
import thunder.Thunder;

public class Torture {
    static final List<WeakReference<Compiled>> made = new ArrayList<>();

    static class Worker extends Thread {
        final Random random;
        final Tensor[] slots = new Tensor[12];
        final Compiled[] compiled = new Compiled[4];
        Throwable failed;

        Worker(long seed) {
            random = new Random(seed);
        }

        Tensor tensor() {
            Tensor found = slots[random.nextInt(slots.length)];
            return found != null ? found : Tensor.of(new float[][] {{random.nextFloat(), 2}, {3, 4}});
        }

        void compile() {
            Tensor captured = tensor();
            Compiled[] own = {null};
            own[0] = Thunder.compile(a -> own[0] != null ? a.mul(captured) : a, "executors", "host");
            synchronized (made) {
                made.add(new WeakReference<>(own[0]));
            }
            compiled[random.nextInt(4)] = random.nextBoolean() ? own[0] : own[0].valueAndGrad("");
        }

        void fail() throws Exception {
            try {
                Thunder.compile((Tensor a) -> {
                    throw new java.io.IOException("no");
                }).call(tensor());
            } catch (Exception e) {
                if (!(e instanceof java.io.IOException)) throw e;
            }
        }

        void act() throws Exception {
            switch (random.nextInt(9)) {
                case 0: slots[random.nextInt(12)] = Tensor.of(new double[] {random.nextDouble(), 2}); break;
                case 1: slots[random.nextInt(12)] = tensor().mul(0.5).add(1); break;
                case 2: slots[random.nextInt(12)] = null; break;
                case 3: compiled[random.nextInt(4)] = null; break;
                case 4: compile(); break;
                case 5: fail(); break;
                case 6: if (random.nextInt(4) == 0) System.gc(); break;
                default:
                    try {
                        Compiled f = compiled[random.nextInt(4)];
                        if (f != null) f.apply(tensor());
                    } catch (thunder.ThunderException refused) {
                        slots[0] = null; // shapes that do not fit
                    }
            }
        }

        @Override public void run() {
            try {
                for (int i = 0; i < 800; i++) act();
            } catch (Throwable thrown) {
                failed = thrown;
            }
        }
    }

    static void work() throws Throwable {
        Worker[] workers = {new Worker(1), new Worker(2)};
        for (Worker worker : workers) worker.start();
        for (Worker worker : workers) worker.join();
        for (Worker worker : workers) if (worker.failed != null) throw worker.failed;
    }

    public static void main(String[] args) throws Throwable {
        work();
        long left = made.size();
        for (int i = 0; i < 20 && left > 2; i++) {
            System.gc();
            Thread.sleep(50);
            left = made.stream().filter(one -> one.get() != null).count();
        }
        if (left > 2) throw new Exception(left + " of " + made.size() + " compiled functions were never collected");
        // Large tensors are small objects to the collector: it is told when to run.
        Tensor x = thunder.Ops.zeros(512, 512);
        for (int i = 0; i < 2000; i++) x = x.add(1);
        for (String line : Files.readAllLines(Path.of("/proc/self/status")))
            if (line.startsWith("VmHWM:") && Long.parseLong(line.replaceAll("[^0-9]", "")) > 1200 * 1024)
                throw new Exception("the loop took " + line);
        System.out.println("tortured");
    }
}
