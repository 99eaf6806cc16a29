import static org.junit.jupiter.api.Assertions.*;

import java.nio.ByteBuffer;
import java.util.*;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.*;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

/**
 * An earlier claim on a topic that its member has left is honored, or raises an exception
 *
 * kafka-clients 4.4.0, assignor sticky: error.
 * java.lang.NullPointerException: Cannot invoke "java.util.List.size()" because
 * the return value of "java.util.Map.get(Object)" is null.
 *
 * Run it with
 *
 *     for jar in org.apache.kafka:kafka-clients:4.4.0 org.slf4j:slf4j-api:2.0.17 org.slf4j:slf4j-nop:2.0.17 org.junit.platform:junit-platform-console-standalone:1.14.4; do mvn -q dependency:copy -DoutputDirectory=jars -Dartifact=$jar; done
 *     javac -cp 'jars/*' -d classes LeftTopicClaimsTest.java
 *     java -cp 'jars/*:classes' org.junit.platform.console.ConsoleLauncher execute --select-class LeftTopicClaimsTest
 */
class LeftTopicClaimsTest {

  /** A member; without an assignment so far, {@code owned} is null. */
  record Member(
      List<String> topics,
      Map<String, List<Integer>> owned,
      int generation,
      String instanceId,
      String rack) {

    boolean hasJoinedBefore() {
      return owned != null || generation >= 0;
    }

    boolean claims(TopicPartition one) {
      return owned != null && owned.getOrDefault(one.topic(), List.of()).contains(one.partition());
    }
  }

  /** The number of partitions of each topic; no other topic exists. */
  static final Map<String, Integer> TOPICS = new TreeMap<>();

  /** The racks of the replicas of each partition. */
  static final Map<String, List<List<String>>> RACKS = new TreeMap<>();

  /** The members by id; the first leads. An unknown generation is -1. */
  static final Map<String, Member> MEMBERS = new TreeMap<>();

  static {
    TOPICS.put("t", 2);
    TOPICS.put("u", 1);
    MEMBERS.put(
        "a",
        new Member(
            List.of("t"),
            Map.of("t", List.of(0, 1)),
            2, null, null));
    MEMBERS.put(
        "b",
        new Member(
            List.of("t"),
            null,
            2, null, null));
    MEMBERS.put(
        "c",
        new Member(
            List.of("u"),
            Map.of("t", List.of(0)),
            1, null, null));
  }

  @Test
  void leftTopicClaims() {
    answer(MEMBERS);
  }

  /** Lets the leader assign. */
  static Map<String, List<TopicPartition>> answer(Map<String, Member> members) {
    return assertDoesNotThrow(() -> assign(members), "finding: error");
  }

  static Map<String, List<TopicPartition>> assign(Map<String, Member> members) {
    return assign(members, TOPICS);
  }

  /** Does what the leader of the group does. */
  static Map<String, List<TopicPartition>> assign(
      Map<String, Member> members, Map<String, Integer> topics) {
    var joined = new HashMap<String, Subscription>();
    members.forEach((id, one) -> {
      var read = ConsumerProtocol.deserializeSubscription(sent(id, one));
      read.setGroupInstanceId(Optional.ofNullable(one.instanceId()));
      joined.put(id, read);
    });
    var group = new GroupSubscription(joined);
    var held = new TreeMap<String, List<TopicPartition>>();
    new StickyAssignor().assign(cluster(topics), group).groupAssignment()
        .forEach((id, given) -> held.put(id, given.partitions()));
    return held;
  }

  /** What a member sends, with its last assignment; an eager one has given that up. */
  static ByteBuffer sent(String id, Member member) {
    var owned = new ArrayList<TopicPartition>();
    if (member.owned() != null) {
      new TreeMap<>(member.owned())
          .forEach((t, numbers) -> numbers.forEach(n -> owned.add(new TopicPartition(t, n))));
    }
    var own = new StickyAssignor();
    if (member.hasJoinedBefore()) {
      own.onAssignment(
          new Assignment(owned),
          new ConsumerGroupMetadata(
              "group", member.generation(), id, Optional.ofNullable(member.instanceId())));
    }
    boolean isEager = !own.supportedProtocols().contains(RebalanceProtocol.COOPERATIVE);
    return ConsumerProtocol.serializeSubscription(
        new Subscription(
            member.topics(),
            own.subscriptionUserData(new HashSet<>(member.topics())),
            isEager ? List.of() : owned,
            member.generation(),
            Optional.ofNullable(member.rack())));
  }

  static Cluster cluster(Map<String, Integer> topics) {
    var brokers = new LinkedHashMap<String, Node>();
    var partitions = new ArrayList<PartitionInfo>();
    topics.forEach((topic, count) -> {
      for (int n = 0; n < count; n++) {
        var racks = RACKS.containsKey(topic) ? RACKS.get(topic).get(n) : List.<String>of();
        var replicas = new ArrayList<Node>();
        for (String rack : racks) {
          int id = brokers.size();
          replicas.add(brokers.computeIfAbsent(rack, r -> new Node(id, "host", 9092 + id, r)));
        }
        var nodes = replicas.toArray(Node[]::new);
        var leader = nodes.length == 0 ? Node.noNode() : nodes[0];
        partitions.add(new PartitionInfo(topic, n, leader, nodes, nodes));
      }
    });
    return new Cluster("cluster", brokers.values(), partitions, Set.of(), Set.of());
  }
}
