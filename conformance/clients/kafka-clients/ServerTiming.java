import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

/**
 * Times an assignor of the group coordinator on the coordinator's own description of a group.
 *
 * <p>The coordinator keeps that description up to date from one rebalance to the next, so it is
 * made once and not timed: members, what each has, and who has each partition, in hash tables. Ids
 * are spread like real ones. Only for claims that agree with each other and with the subscriptions.
 */
final class ServerTiming implements Timing.Work<GroupAssignment> {

  private final PartitionAssignor assignor;
  private final GroupSpecImpl group;
  private final Describer describer;
  private final Map<Uuid, String> names;

  private ServerTiming(
      PartitionAssignor assignor,
      GroupSpecImpl group,
      Describer describer,
      Map<Uuid, String> names) {
    this.assignor = assignor;
    this.group = group;
    this.describer = describer;
    this.names = names;
  }

  /** The sizes of the topics: the coordinator looks them up in its image of the cluster. */
  private record Describer(Map<Uuid, Integer> sizes) implements SubscribedTopicDescriber {

    @Override
    public int numPartitions(Uuid topic) {
      return sizes.getOrDefault(topic, -1);
    }

    @Override
    public Set<String> racksForPartition(Uuid topic, int number) {
      return Set.of();
    }
  }

  static ServerTiming of(String name, Rebalance rebalance) {
    var ids = new HashMap<String, Uuid>();
    var names = new HashMap<Uuid, String>();
    var sizes = new HashMap<Uuid, Integer>();
    var sorted = new TreeMap<>(rebalance.topics());
    sorted.forEach((topic, about) -> {
      var id = new Uuid(spread(ids.size() + 1), spread(-ids.size() - 1));
      ids.put(topic, id);
      names.put(id, topic);
      sizes.put(id, about.partitions());
    });
    var members = new HashMap<String, MemberSubscriptionAndAssignmentImpl>();
    var owners = new HashMap<Uuid, Map<Integer, String>>();
    rebalance.members().forEach((id, one) -> {
      members.put(id, described(one, ids));
      one.eachOwned((topic, number) -> owners
          .computeIfAbsent(ids.get(topic), any -> new HashMap<>())
          .put(number, id));
    });
    var group = new GroupSpecImpl(members, ServerAdapter.type(rebalance), owners);
    return new ServerTiming(ServerAdapter.assignor(name), group, new Describer(sizes), names);
  }

  private static MemberSubscriptionAndAssignmentImpl described(
      Rebalance.Member member, Map<String, Uuid> ids) {
    var wanted = new HashSet<Uuid>();
    member.subscription().forEach(topic -> wanted.add(ids.get(topic)));
    var held = new HashMap<Uuid, Set<Integer>>();
    member.eachOwned((topic, number) -> held
        .computeIfAbsent(ids.get(topic), any -> new HashSet<>())
        .add(number));
    return new MemberSubscriptionAndAssignmentImpl(
        Optional.empty(),
        Optional.empty(),
        wanted,
        new Assignment(Collections.unmodifiableMap(held)));
  }

  /** One of Vigna's mixers (SplitMix64): neighbours come out far apart. */
  private static long spread(long value) {
    long mixed = value * 0x9E3779B97F4A7C15L;
    mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
    return mixed ^ (mixed >>> 31);
  }

  @Override
  public Callable<GroupAssignment> fresh() {
    return () -> assignor.assign(group, describer);
  }

  @Override
  public Map<String, Map<String, Collection<Integer>>> named(GroupAssignment answer) {
    var held = new HashMap<String, Map<String, Collection<Integer>>>();
    answer.members().forEach((id, given) -> {
      var topics = new TreeMap<String, Collection<Integer>>();
      given.partitions().forEach((topic, all) -> {
        if (!all.isEmpty()) {
          topics.put(names.get(topic), new TreeSet<>(all));
        }
      });
      held.put(id, topics);
    });
    return held;
  }
}
