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
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A consumer in a group until its input ends. Each callback is one line of JSON:
 *
 * <pre>{"event": "assign", "ms": 1795221854956, "member": "c-0b2c", "generation": 3,
 * "partitions": {"t": [1]}, "held": {"t": [0, 1]}}</pre>
 *
 * <p>Events are {@code assign}, {@code revoke}, and {@code lost}, with the partitions that the
 * callback names, and {@code subscribed} with none. {@code generation} is the member epoch in the
 * new protocol. {@code held} is the assignment at that moment; in the callback of a revocation it
 * still contains the partitions that are revoked.
 *
 * <p>Argument: {"settings": {the consumer's properties}, "topics": ["t"]}. Each line of input is a
 * new subscription, a JSON array of topics.
 */
final class Member {

  private record Asked(Map<String, String> settings, List<String> topics) {}

  private record Said(
      String event,
      long ms,
      String member,
      int generation,
      Map<String, Collection<Integer>> partitions,
      Map<String, Collection<Integer>> held) {}

  private static final Gson GSON = new Gson();

  private Member() {}

  public static void main(String[] arguments) {
    var out =
        new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    System.setOut(System.err); // what a library prints is not for whoever started us
    var asked = GSON.fromJson(arguments[0], Asked.class);
    var settings = new Properties();
    settings.putAll(asked.settings());
    var wanted = new AtomicReference<String>();
    var isLeaving = new AtomicBoolean();
    var bytes = new ByteArrayDeserializer();
    try (var consumer = new KafkaConsumer<>(settings, bytes, bytes)) {
      listen(consumer, wanted, isLeaving);
      var listener = listener(consumer, out);
      consumer.subscribe(asked.topics(), listener);
      while (!isLeaving.get()) {
        try {
          consumer.poll(Duration.ofMillis(100));
        } catch (WakeupException changed) {
          // to subscribe, or to leave
        }
        var line = wanted.getAndSet(null);
        if (line != null) {
          consumer.subscribe(List.of(GSON.fromJson(line, String[].class)), listener);
          say(consumer, out, "subscribed", List.of());
        }
      }
    }
  }

  private static ConsumerRebalanceListener listener(
      KafkaConsumer<byte[], byte[]> consumer, PrintStream out) {
    return new ConsumerRebalanceListener() {
      @Override
      public void onPartitionsAssigned(Collection<TopicPartition> added) {
        say(consumer, out, "assign", added);
      }

      @Override
      public void onPartitionsRevoked(Collection<TopicPartition> revoked) {
        say(consumer, out, "revoke", revoked);
      }

      @Override
      public void onPartitionsLost(Collection<TopicPartition> lost) {
        say(consumer, out, "lost", lost);
      }
    };
  }

  private static void say(
      KafkaConsumer<byte[], byte[]> consumer,
      PrintStream out,
      String event,
      Collection<TopicPartition> partitions) {
    var group = consumer.groupMetadata();
    var said =
        new Said(
            event,
            System.currentTimeMillis(),
            group.memberId(),
            group.generationId(),
            byTopic(partitions),
            byTopic(consumer.assignment()));
    out.println(GSON.toJson(said));
  }

  private static Map<String, Collection<Integer>> byTopic(Collection<TopicPartition> partitions) {
    var found = new TreeMap<String, Collection<Integer>>();
    for (var one : partitions) {
      found.computeIfAbsent(one.topic(), topic -> new TreeSet<>()).add(one.partition());
    }
    return found;
  }

  private static void listen(
      KafkaConsumer<byte[], byte[]> consumer,
      AtomicReference<String> wanted,
      AtomicBoolean isLeaving) {
    var listening =
        new Thread(
            () -> {
              var input =
                  new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
              try {
                for (var line = input.readLine(); line != null; line = input.readLine()) {
                  wanted.set(line);
                  consumer.wakeup();
                }
              } catch (IOException error) {
                // the same as its end
              }
              isLeaving.set(true);
              consumer.wakeup();
            });
    listening.setDaemon(true);
    listening.start();
  }
}
