import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupAssignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.RebalanceProtocol;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/**
 * The assignors of kafka-clients, handed what the leader of a real group hands them.
 *
 * <p>Every member has an assignor of its own that is told what it got last, writes its user data,
 * and whose subscription goes through the bytes of the consumer protocol. An eager member has given
 * up all it owned before it joins, so its subscription names no owned partitions.
 *
 * <p>Arguments: assignor, and "keep" for a leader that keeps its own from one rebalance to the
 * next, as a consumer does while it lives. Else every rebalance has a leader of its own, so that
 * nothing is left over from another.
 */
final class ClientAdapter implements Adapter.Assignor {

  private final String name;

  ClientAdapter(String name) {
    this.name = name;
  }

  public static void main(String[] arguments) throws IOException {
    var adapter = new ClientAdapter(arguments[0]);
    boolean keeps = arguments.length > 1 && arguments[1].equals("keep");
    Adapter.serve(arguments[0], keeps ? adapter.keeping(adapter.assignor()) : adapter);
  }

  @Override
  public Map<String, Map<String, Collection<Integer>>> assign(Rebalance rebalance) {
    return assign(assignor(), rebalance);
  }

  private Adapter.Assignor keeping(ConsumerPartitionAssignor leaders) {
    return rebalance -> assign(leaders, rebalance);
  }

  private Map<String, Map<String, Collection<Integer>>> assign(
      ConsumerPartitionAssignor leaders, Rebalance rebalance) {
    var group = read(rebalance, sent(rebalance));
    return named(leaders.assign(cluster(rebalance), group));
  }

  /** A new one, which remembers nothing. */
  ConsumerPartitionAssignor assignor() {
    return switch (name) {
      case "range" -> new RangeAssignor();
      case "roundrobin" -> new RoundRobinAssignor();
      case "sticky" -> new StickyAssignor();
      case "cooperative-sticky" -> new CooperativeStickyAssignor();
      default -> throw new IllegalArgumentException("no assignor " + name);
    };
  }

  /** What each member sends as it joins with its claims. */
  Map<String, ByteBuffer> sent(Rebalance rebalance) {
    var sent = new HashMap<String, ByteBuffer>();
    rebalance.members().forEach((id, one) -> sent.put(id, joins(rebalance, id, one)));
    return sent;
  }

  /** What the leader reads of it; the bytes may be read again. */
  static GroupSubscription read(Rebalance rebalance, Map<String, ByteBuffer> sent) {
    var subscriptions = new HashMap<String, Subscription>(); // as the consumer's coordinator does
    sent.forEach((id, bytes) -> {
      var read = ConsumerProtocol.deserializeSubscription(bytes.duplicate());
      // told by the coordinator beside the bytes
      read.setGroupInstanceId(Optional.ofNullable(rebalance.members().get(id).instanceId()));
      subscriptions.put(id, read);
    });
    return new GroupSubscription(subscriptions);
  }

  static Map<String, Map<String, Collection<Integer>>> named(GroupAssignment answer) {
    var held = new HashMap<String, Map<String, Collection<Integer>>>();
    answer.groupAssignment().forEach((id, given) -> held.put(id, byTopic(given.partitions())));
    return held;
  }

  private ByteBuffer joins(Rebalance rebalance, String id, Rebalance.Member member) {
    var owned = new ArrayList<TopicPartition>();
    member.eachOwned((topic, number) -> owned.add(new TopicPartition(topic, number)));
    var instanceId = Optional.ofNullable(member.instanceId());
    var generation = member.generationOrUnknown();
    var own = assignor();
    if (member.hasJoinedBefore()) {
      var then = new ConsumerGroupMetadata(rebalance.group(), generation, id, instanceId);
      own.onAssignment(new Assignment(owned), then);
    }
    boolean isEager = !own.supportedProtocols().contains(RebalanceProtocol.COOPERATIVE);
    ByteBuffer userData = own.subscriptionUserData(new HashSet<>(member.subscription()));
    return ConsumerProtocol.serializeSubscription(
        new Subscription(
            member.subscription(),
            userData,
            isEager ? List.of() : owned,
            generation,
            Optional.ofNullable(member.rack())));
  }

  /** One broker a rack; a topic without partitions is not in a cluster's metadata. */
  static Cluster cluster(Rebalance rebalance) {
    var brokers = new LinkedHashMap<String, Node>();
    var partitions = new ArrayList<PartitionInfo>();
    rebalance
        .topics()
        .forEach(
            (topic, about) -> {
              for (int n = 0; n < about.partitions(); n++) {
                Node[] replicas =
                    about.racksOf(n).stream()
                        .map(rack -> brokers.computeIfAbsent(rack, r -> broker(brokers.size(), r)))
                        .toArray(Node[]::new);
                Node leader = replicas.length == 0 ? Node.noNode() : replicas[0];
                partitions.add(new PartitionInfo(topic, n, leader, replicas, replicas));
              }
            });
    return new Cluster("cluster", brokers.values(), partitions, Set.of(), Set.of());
  }

  private static Node broker(int id, String rack) {
    return new Node(id, "localhost", 9092 + id, rack);
  }

  private static Map<String, Collection<Integer>> byTopic(List<TopicPartition> partitions) {
    var topics = new TreeMap<String, Collection<Integer>>();
    for (var one : partitions) {
      topics.computeIfAbsent(one.topic(), topic -> new ArrayList<>()).add(one.partition());
    }
    return topics;
  }
}
