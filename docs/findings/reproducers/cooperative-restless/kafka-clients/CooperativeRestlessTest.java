import static org.junit.jupiter.api.Assertions.*;

import java.nio.ByteBuffer;
import java.util.*;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.*;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

/**
 * A cooperative group with racks and different subscriptions does not become stable
 *
 * kafka-clients 4.4.0, assignor cooperative-sticky: restless.
 * members still revoke after 16 rounds.
 *
 * Run it with
 *
 *     for jar in org.apache.kafka:kafka-clients:4.4.0 org.slf4j:slf4j-api:2.0.17 org.slf4j:slf4j-nop:2.0.17 org.junit.platform:junit-platform-console-standalone:1.14.4; do mvn -q dependency:copy -DoutputDirectory=jars -Dartifact=$jar; done
 *     javac -cp 'jars/*' -d classes CooperativeRestlessTest.java
 *     java -cp 'jars/*:classes' org.junit.platform.console.ConsoleLauncher execute --select-class CooperativeRestlessTest
 */
class CooperativeRestlessTest {

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
    TOPICS.put("t", 8);
    TOPICS.put("u", 9);
    TOPICS.put("v", 12);
    TOPICS.put("w", 11);
    TOPICS.put("x", 9);
    RACKS.put("t", List.of(List.of("b", "a"), List.of("c"), List.of("c"), List.of("b"), List.of("c"), List.of("c"), List.of("b"), List.of("a")));
    RACKS.put("u", List.of(List.of("b"), List.of("a"), List.of("a"), List.of("c"), List.of("a"), List.of("a"), List.of("c"), List.of("a"), List.of("c")));
    RACKS.put("v", List.of(List.of("a"), List.of("a"), List.of("a"), List.of("a"), List.of("a"), List.of("c"), List.of("a"), List.of("c"), List.of("c"), List.of("c"), List.of("c"), List.of("a")));
    RACKS.put("w", List.of(List.of("c"), List.of("c"), List.of("c"), List.of("c"), List.of("b", "a"), List.of("b"), List.of("b"), List.of("b"), List.of("b"), List.of("c"), List.of("a")));
    RACKS.put("x", List.of(List.of("a"), List.of("a"), List.of("a"), List.of("c"), List.of("b"), List.of("b"), List.of("a"), List.of("b"), List.of("c")));
    MEMBERS.put(
        "m1",
        new Member(
            List.of("u"),
            null,
            -1, null, "a"));
    MEMBERS.put(
        "m2",
        new Member(
            List.of("t", "u", "v", "w"),
            null,
            -1, null, "a"));
    MEMBERS.put(
        "m3",
        new Member(
            List.of("t", "u", "w", "x"),
            null,
            -1, null, "b"));
    MEMBERS.put(
        "m4",
        new Member(
            List.of("t", "u", "x"),
            null,
            -1, null, "c"));
    MEMBERS.put(
        "m5",
        new Member(
            List.of("t", "v", "w", "x"),
            Map.of("x", List.of(3)),
            2, null, "c"));
  }

  @Test
  void cooperativeRestless() {
    var members = MEMBERS;
    var held = answer(members);
    for (int round = 1; ; round++) { // until nobody has to revoke anything (KIP-429)
      if (!revokes(members, held)) {
        break;
      }
      if (round == 16) {
        fail("finding: restless: members still revoke after 16 rounds");
      }
      members = rejoined(members, held);
      held = answer(members);
    }
  }

  /** Lets the leader assign. */
  static Map<String, List<TopicPartition>> answer(Map<String, Member> members) {
    return assign(members);
  }

  /** Returns whether a member has to give up what it holds, and joins again. */
  static boolean revokes(Map<String, Member> members, Map<String, List<TopicPartition>> held) {
    var assigned = new HashSet<TopicPartition>();
    held.values().forEach(assigned::addAll);
    for (var entry : members.entrySet()) {
      var member = entry.getValue();
      for (String topic : TOPICS.keySet()) {
        for (int n = 0; n < TOPICS.get(topic); n++) {
          var one = new TopicPartition(topic, n);
          boolean isLost = member.claims(one) && !held.get(entry.getKey()).contains(one);
          if (isLost && (member.topics().contains(topic) || !assigned.contains(one))) {
            return true;
          }
        }
      }
    }
    return false;
  }

  /** Returns the members in the next round, with what they received as their claims. */
  static Map<String, Member> rejoined(
      Map<String, Member> members, Map<String, List<TopicPartition>> held) {
    int newest = members.values().stream().mapToInt(Member::generation).max().getAsInt();
    var next = new TreeMap<String, Member>();
    members.forEach((id, one) -> {
      var owned = new TreeMap<String, List<Integer>>();
      for (var given : held.get(id)) {
        owned.computeIfAbsent(given.topic(), t -> new ArrayList<>()).add(given.partition());
      }
      next.put(id, new Member(one.topics(), owned, newest + 1, one.instanceId(), one.rack()));
    });
    return next;
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
    new CooperativeStickyAssignor().assign(cluster(topics), group).groupAssignment()
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
    var own = new CooperativeStickyAssignor();
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
