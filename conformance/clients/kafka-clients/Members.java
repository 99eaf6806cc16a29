import com.google.gson.Gson;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Members of a real group that follow orders: lines of JSON in, events out
 * (conformance/consumer_programs/python-programs/orders.py documents both).
 *
 * <p>Each member polls in a thread of its own; it does not poll while it is paused. In the new
 * protocol, {@code generation} is the member epoch. With {@code topics} in the argument, the process
 * has one member, and ends with it.
 */
final class Members {

  private static final int RAISED = 70; // EX_SOFTWARE of sysexits.h

  private record Asked(Map<String, Object> settings, List<String> topics, Boolean reports) {}

  private record Order(String member, List<String> topics, String instance) {}

  private record Event(
      String event,
      String member,
      long ms,
      String id,
      int generation,
      Map<String, Collection<Integer>> partitions,
      List<String> frames,
      String reason) {}

  private static final Gson GSON = new Gson();
  private static final PrintStream OUT =
      new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);

  private Members() {}

  public static void main(String[] arguments) throws IOException {
    System.setOut(System.err); // what a library prints is not an event
    var asked = GSON.fromJson(arguments[0], Asked.class);
    var members = new HashMap<String, OrderedMember>();
    if (asked.topics() != null) {
      var name = (String) asked.settings().getOrDefault("client.id", "");
      members.put(name, new OrderedMember(name, asked, asked.topics(), null));
    }
    var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (var line = input.readLine(); line != null; line = input.readLine()) {
      var order = GSON.fromJson(line, Order.class);
      var member = members.get(order.member());
      switch (String.valueOf(GSON.fromJson(line, Map.class).get("do"))) {
        case "start" ->
            members.put(
                order.member(),
                new OrderedMember(order.member(), asked, order.topics(), order.instance()));
        case "subscribe" -> member.subscribe(order.topics());
        case "pause" -> member.pause(true);
        case "resume" -> member.pause(false);
        case "leave" -> member.leave();
        default -> member.report("where", member.frames(), null);
      }
    }
    Runtime.getRuntime().halt(0);
  }

  private static final class OrderedMember extends Thread {

    private final Properties settings = new Properties();
    private final boolean isAlone;
    private final boolean isReporting;
    private List<String> topics;
    private boolean isChanged = true;
    private boolean isPaused;
    private boolean isLeaving;
    private KafkaConsumer<byte[], byte[]> consumer;

    /** Starts at once. */
    OrderedMember(String name, Asked asked, List<String> topics, String instance) {
      super(name);
      asked.settings().forEach((key, value) -> settings.put(key, text(value)));
      if (!name.isEmpty()) {
        settings.put("client.id", name);
      }
      if (instance != null) {
        settings.put("group.instance.id", instance);
      }
      isAlone = asked.topics() != null;
      isReporting = !Boolean.FALSE.equals(asked.reports());
      this.topics = topics;
      setDaemon(true);
      start();
    }

    /** Gson reads every number as a double. */
    private static String text(Object value) {
      return value instanceof Double number ? String.valueOf(number.longValue()) : "" + value;
    }

    @Override
    public void run() {
      var code = 0;
      var bytes = new ByteArrayDeserializer();
      try {
        consumer = new KafkaConsumer<>(settings, bytes, bytes);
        while (awaitTurn()) {
          consumer.poll(Duration.ofMillis(100));
        }
        consumer.close();
      } catch (Throwable error) {
        error.printStackTrace();
        report("error", null, error.toString());
        code = RAISED;
      }
      if (isAlone) {
        Runtime.getRuntime().halt(code);
      }
    }

    /** Waits while it is paused; returns whether it is to poll. */
    private synchronized boolean awaitTurn() throws InterruptedException {
      while (isPaused && !isLeaving) {
        wait();
      }
      if (isChanged && !isLeaving) {
        isChanged = false;
        subscribeAgain();
      }
      return !isLeaving;
    }

    private void subscribeAgain() {
      var isFirst = consumer.subscription().isEmpty();
      if (!isReporting) {
        consumer.subscribe(topics);
        return;
      }
      consumer.subscribe(topics, new Reporting());
      if (!isFirst) {
        report("subscribed", List.of());
      }
    }

    synchronized void subscribe(List<String> others) {
      topics = others;
      isChanged = true;
    }

    synchronized void pause(boolean paused) {
      isPaused = paused;
      notifyAll();
    }

    synchronized void leave() {
      isLeaving = true;
      notifyAll();
    }

    List<String> frames() {
      return Stream.of(getStackTrace()).map(f -> f.getClassName() + "." + f.getMethodName())
          .toList();
    }

    void report(String event, List<String> frames, String reason) {
      write(new Event(event, getName(), System.currentTimeMillis(), null, -1, null, frames, reason));
    }

    void report(String event, Collection<TopicPartition> partitions) {
      var named = new TreeMap<String, Collection<Integer>>();
      for (var partition : partitions) {
        named.computeIfAbsent(partition.topic(), topic -> new TreeSet<>()).add(partition.partition());
      }
      var now = System.currentTimeMillis();
      var group = consumer.groupMetadata();
      var generation = group.generationId();
      write(new Event(event, getName(), now, group.memberId(), generation, named, null, null));
    }

    private static void write(Event event) {
      OUT.println(GSON.toJson(event));
    }

    private final class Reporting implements ConsumerRebalanceListener {

      @Override
      public void onPartitionsAssigned(Collection<TopicPartition> added) {
        report("assign", added);
      }

      @Override
      public void onPartitionsRevoked(Collection<TopicPartition> revoked) {
        report("revoke", revoked);
      }

      @Override
      public void onPartitionsLost(Collection<TopicPartition> lost) {
        report("lost", lost);
      }
    }
  }
}
