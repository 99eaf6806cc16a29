import com.google.gson.Gson;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;

/**
 * Times an assignor on one rebalance, in nanoseconds of its thread's CPU and of the wall.
 *
 * <p>Arguments: assignor, file of a rebalance/1 document, seconds that one call may take: of CPU,
 * for those of the wall depend on what else the machine does. A line "n" asks for n calls, "plan"
 * for the assignment of the last one. What a call changes in its input, or remembers there, another
 * does not see: the input is made anew before its clock starts.
 */
final class Timing {

  /** An assignor with all it is handed. */
  interface Work<T> {

    /** Makes what the leader, or the coordinator, has in its hands; not timed. */
    Callable<T> fresh();

    Map<String, Map<String, Collection<Integer>>> named(T answer);
  }

  private record Ready(String java, String machine) {}

  private record Times(long[] cpu_ns, long[] wall_ns, long collected_ms) {}

  private record Over(double over_s) {}

  private record Failure(String error) {}

  private record Plan(
      String format,
      String group,
      String assignor,
      Map<String, Map<String, Collection<Integer>>> members) {}

  private static final Gson GSON = new Gson();
  private static final long NOT_RUNNING = Long.MAX_VALUE;

  private static volatile long deadline = NOT_RUNNING; // on the clock of the main thread's CPU

  private Timing() {}

  public static void main(String[] arguments) throws IOException {
    var out =
        new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    System.setOut(System.err); // what a library prints is no answer
    var rebalance = GSON.fromJson(Files.readString(Path.of(arguments[1])), Rebalance.class);
    double seconds = Double.parseDouble(arguments[2]);
    watch(out, seconds);
    try {
      var isServer = arguments[0].startsWith("server-");
      var work =
          isServer
              ? ServerTiming.of(arguments[0], rebalance)
              : new ClientTiming(arguments[0], rebalance);
      serve(work, arguments[0], rebalance, (long) (seconds * 1e9), out);
    } catch (Throwable error) {
      out.println(GSON.toJson(new Failure(error.toString())));
      Runtime.getRuntime().halt(1);
    }
  }

  private static <T> void serve(
      Work<T> work, String name, Rebalance rebalance, long limit, PrintStream out)
      throws Exception {
    var machine = System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version");
    var collectors = ManagementFactory.getGarbageCollectorMXBeans();
    var names = collectors.stream().map(GarbageCollectorMXBean::getName).toList();
    out.println(GSON.toJson(new Ready(machine, String.join(", ", names))));
    T last = null;
    try (var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.equals("plan")) {
          var members = new TreeMap<>(work.named(last));
          out.println(GSON.toJson(new Plan("assignment/1", rebalance.group(), name, members)));
          continue;
        }
        int calls = Integer.parseInt(line);
        var times = new Times(new long[calls], new long[calls], -collected());
        for (int i = 0; i < calls; i++) {
          last = null; // one answer at a time
          last = timed(work.fresh(), limit, times, i);
        }
        out.println(
            GSON.toJson(new Times(times.cpu_ns, times.wall_ns, times.collected_ms + collected())));
      }
    }
  }

  private static <T> T timed(Callable<T> call, long limit, Times times, int i) throws Exception {
    var threads = ManagementFactory.getThreadMXBean();
    deadline = threads.getCurrentThreadCpuTime() + limit;
    long wall = System.nanoTime();
    long cpu = threads.getCurrentThreadCpuTime();
    T answer = call.call();
    times.cpu_ns[i] = threads.getCurrentThreadCpuTime() - cpu;
    times.wall_ns[i] = System.nanoTime() - wall;
    deadline = NOT_RUNNING;
    return answer;
  }

  private static long collected() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .mapToLong(GarbageCollectorMXBean::getCollectionTime)
        .sum();
  }

  /** Ends the process when a call is late: an assignor cannot be interrupted. */
  private static void watch(PrintStream out, double seconds) {
    var threads = ManagementFactory.getThreadMXBean();
    long watched = Thread.currentThread().getId();
    var watch =
        new Thread(
            () -> {
              while (true) {
                if (threads.getThreadCpuTime(watched) > deadline) {
                  out.println(GSON.toJson(new Over(seconds)));
                  Runtime.getRuntime().halt(0);
                }
                try {
                  Thread.sleep(50);
                } catch (InterruptedException error) {
                  return;
                }
              }
            });
    watch.setDaemon(true);
    watch.start();
  }
}
