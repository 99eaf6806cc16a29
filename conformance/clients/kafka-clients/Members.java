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
 * (studies.confirmation documents both). Each member polls in a thread of its own; it does not
 * poll while it is paused. The process ends with its input, without leaving the group.
 */
final class Members {

  private record Asked(Map<String, String> settings) {}

  private record Order(String member, List<String> topics) {}

  private record Event(
      String event,
      String member,
      int generation,
      Map<String, Collection<Integer>> partitions,
      List<String> frames,
      String reason) {}

  private static final Gson GSON = new Gson();
  private static final PrintStream OUT =
      new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);

  private Members() {}

  public static void main(String[] arguments) throws IOException {
    System.setOut(System.err); // what a library prints is no event
    var asked = GSON.fromJson(arguments[0], Asked.class);
    var members = new HashMap<String, OrderedMember>();
    var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (var line = input.readLine(); line != null; line = input.readLine()) {
      var order = GSON.fromJson(line, Order.class);
      var member = members.get(order.member());
      switch (String.valueOf(GSON.fromJson(line, Map.class).get("do"))) {
        case "start" -> {
          member = new OrderedMember(order.member(), asked.settings(), order.topics());
          members.put(order.member(), member);
          member.setDaemon(true);
          member.start();
        }
        case "subscribe" -> member.subscribe(order.topics());
        case "pause" -> member.pause(true);
        case "resume" -> member.pause(false);
        default -> member.report("where", List.of(), member.frames(), null);
      }
    }
    Runtime.getRuntime().halt(0);
  }

  private static final class OrderedMember extends Thread {

    private final Properties settings = new Properties();
    private List<String> topics;
    private boolean isChanged = true;
    private boolean isPaused;
    private KafkaConsumer<byte[], byte[]> consumer;

    OrderedMember(String name, Map<String, String> settings, List<String> topics) {
      super(name);
      this.settings.putAll(settings);
      this.settings.put("client.id", name);
      this.topics = topics;
    }

    @Override
    public void run() {
      try {
        var bytes = new ByteArrayDeserializer();
        consumer = new KafkaConsumer<>(settings, bytes, bytes);
        while (true) {
          awaitTurn();
          consumer.poll(Duration.ofMillis(100));
        }
      } catch (Exception error) {
        report("error", List.of(), null, error.toString());
      }
    }

    private synchronized void awaitTurn() throws InterruptedException {
      while (isPaused) {
        wait();
      }
      if (isChanged) {
        isChanged = false;
        consumer.subscribe(topics, new Reporting());
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

    List<String> frames() {
      return Stream.of(getStackTrace()).map(f -> f.getClassName() + "." + f.getMethodName())
          .toList();
    }

    void report(
        String event, Collection<TopicPartition> partitions, List<String> frames, String reason) {
      var held = new TreeMap<String, Collection<Integer>>();
      for (var one : partitions) {
        held.computeIfAbsent(one.topic(), topic -> new TreeSet<>()).add(one.partition());
      }
      var generation = frames == null && reason == null ? generation() : -1;
      OUT.println(GSON.toJson(new Event(event, getName(), generation, held, frames, reason)));
    }

    private int generation() {
      return consumer.groupMetadata().generationId();
    }

    private final class Reporting implements ConsumerRebalanceListener {

      @Override
      public void onPartitionsAssigned(Collection<TopicPartition> added) {
        report("assign", consumer.assignment(), null, null);
      }

      @Override
      public void onPartitionsRevoked(Collection<TopicPartition> revoked) {
        report("revoke", revoked, null, null);
      }
    }
  }
}
