import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;

/** Answers rebalance/1 lines with assignment/1 lines, one for one, until the input ends. */
final class Adapter {

  /** Members to topics to partition numbers. */
  interface Assignor {
    Map<String, Map<String, Collection<Integer>>> assign(Rebalance rebalance);
  }

  private record Answer(
      String format,
      String group,
      String assignor,
      Map<String, Map<String, Collection<Integer>>> members) {}

  private record Failure(String error, String place) {}

  private static final Gson GSON = new GsonBuilder().disableHtmlEscaping().create();

  private Adapter() {}

  static void serve(String name, Assignor assignor) throws IOException {
    var output = new FileOutputStream(FileDescriptor.out);
    System.setOut(System.err); // what a library prints is no answer
    try (var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var out = new PrintStream(output, false, StandardCharsets.UTF_8)) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        out.append(answer(name, assignor, line)).append('\n').flush();
      }
    }
  }

  /** An error of one instance is its answer; out of memory is the end of the process. */
  private static String answer(String name, Assignor assignor, String line) {
    try {
      var rebalance = GSON.fromJson(line, Rebalance.class);
      var members = assignor.assign(rebalance);
      var answer = new Answer("assignment/1", rebalance.group(), name, new TreeMap<>(members));
      return GSON.toJson(answer);
    } catch (OutOfMemoryError error) {
      throw error;
    } catch (Throwable error) {
      return GSON.toJson(new Failure(error.toString(), place(error)));
    }
  }

  /** The method and the line that threw; null, which is left out, without a stack. */
  private static String place(Throwable error) {
    var stack = error.getStackTrace();
    if (stack.length == 0) {
      return null;
    }
    for (var frame : stack) {
      if (!frame.getClassName().startsWith("java.")) {
        return said(frame);
      }
    }
    return said(stack[0]);
  }

  private static String said(StackTraceElement frame) {
    var name = frame.getClassName().substring(frame.getClassName().lastIndexOf('.') + 1);
    var place = frame.getFileName() + ":" + frame.getLineNumber();
    return name + "." + frame.getMethodName() + " (" + place + ")";
  }
}
