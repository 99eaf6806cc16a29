import com.google.gson.Gson;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A consumer in a group until its input ends. After each rebalance it says what it holds, one line
 * of JSON: {"generation": 3, "held": {"t": [0, 1]}}.
 *
 * <p>Arguments: bootstrap servers, group, assignors (classes, with commas), topics (with commas),
 * and for a static member its instance id.
 */
final class Member {

  private record Said(int generation, Map<String, Collection<Integer>> held) {}

  private static final Gson GSON = new Gson();

  private Member() {}

  public static void main(String[] arguments) {
    var out =
        new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    System.setOut(System.err); // what a library prints is not for whoever started us
    var bytes = new ByteArrayDeserializer();
    try (var consumer = new KafkaConsumer<>(settings(arguments), bytes, bytes)) {
      leaveWhenInputEnds(consumer);
      consumer.subscribe(List.of(arguments[3].split(",")), saying(consumer, out));
      while (true) {
        consumer.poll(Duration.ofMillis(100));
      }
    } catch (WakeupException asked) {
      // closed by now, and so out of the group
    }
  }

  private static Properties settings(String[] arguments) {
    var told = new Properties();
    told.put("bootstrap.servers", arguments[0]);
    told.put("group.id", arguments[1]);
    told.put("partition.assignment.strategy", arguments[2]);
    told.put("group.protocol", "classic");
    told.put("enable.auto.commit", "false");
    told.put("session.timeout.ms", "10000");
    told.put("heartbeat.interval.ms", "200");
    if (arguments.length > 4) {
      told.put("group.instance.id", arguments[4]);
    }
    return told;
  }

  private static ConsumerRebalanceListener saying(
      KafkaConsumer<byte[], byte[]> consumer, PrintStream out) {
    return new ConsumerRebalanceListener() {
      @Override
      public void onPartitionsAssigned(Collection<TopicPartition> added) {
        var held = new TreeMap<String, Collection<Integer>>();
        for (var one : consumer.assignment()) {
          held.computeIfAbsent(one.topic(), topic -> new TreeSet<>()).add(one.partition());
        }
        out.println(GSON.toJson(new Said(consumer.groupMetadata().generationId(), held)));
      }

      @Override
      public void onPartitionsRevoked(Collection<TopicPartition> revoked) {}
    };
  }

  private static void leaveWhenInputEnds(KafkaConsumer<byte[], byte[]> consumer) {
    var waiting =
        new Thread(
            () -> {
              try {
                System.in.transferTo(PrintStream.nullOutputStream());
              } catch (IOException error) {
                // the same as its end
              }
              consumer.wakeup();
            });
    waiting.setDaemon(true);
    waiting.start();
  }
}
