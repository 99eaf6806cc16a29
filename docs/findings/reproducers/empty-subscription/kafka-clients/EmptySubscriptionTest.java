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
 * A member with an empty subscription receives partitions
 *
 * kafka-clients 4.4.0, assignor sticky: invalid.
 * rule unsubscribed, member a, topic t, partition 0.
 *
 * Run it with
 *
 *     for jar in org.apache.kafka:kafka-clients:4.4.0 org.slf4j:slf4j-api:2.0.17 org.slf4j:slf4j-nop:2.0.17 org.junit.platform:junit-platform-console-standalone:1.14.4; do mvn -q dependency:copy -DoutputDirectory=jars -Dartifact=$jar; done
 *     javac -cp 'jars/*' -d classes EmptySubscriptionTest.java
 *     java -cp 'jars/*:classes' org.junit.platform.console.ConsoleLauncher execute --select-class EmptySubscriptionTest
 */
class EmptySubscriptionTest {

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
    TOPICS.put("t", 1);
    MEMBERS.put(
        "a",
        new Member(
            List.of(),
            null,
            -1, null, null));
    MEMBERS.put(
        "b",
        new Member(
            List.of("t"),
            null,
            -1, null, null));
  }

  @Test
  void emptySubscription() {
    var held = answer(MEMBERS);
    var violations = violations(MEMBERS, held);
    assertTrue(violations.isEmpty(), "finding: invalid: " + violations);
  }

  /** Lets the leader assign. */
  static Map<String, List<TopicPartition>> answer(Map<String, Member> members) {
    return assign(members);
  }

  /** Returns what is wrong with an assignment. */
  static List<String> violations(
      Map<String, Member> members, Map<String, List<TopicPartition>> held) {
    var found = new ArrayList<String>();
    var seen = new HashSet<TopicPartition>();
    held.forEach((id, partitions) -> {
      for (var one : partitions) {
        if (!members.containsKey(id)) {
          found.add(id + " is not in the group");
        } else if (one.partition() >= TOPICS.getOrDefault(one.topic(), 0)) {
          found.add(id + " receives " + one + ", which does not exist");
        } else if (!members.get(id).topics().contains(one.topic())) {
          found.add(id + " receives " + one + ", but does not subscribe to its topic");
        } else if (!seen.add(one)) {
          found.add(one + " is assigned twice");
        }
      }
    });
    for (var member : members.values()) {
      for (String topic : member.topics()) {
        for (int n = 0; n < TOPICS.getOrDefault(topic, 0); n++) {
          var one = new TopicPartition(topic, n);
          if (seen.add(one)) {
            found.add("nobody receives " + one);
          }
        }
      }
    }
    return found;
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
