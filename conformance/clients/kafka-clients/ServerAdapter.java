import java.io.IOException;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.MemberSubscription;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;

/**
 * The assignors of the group coordinator (KIP-848).
 *
 * <p>Topics are known by id there, ids are random, and members come in the order of a hash; here
 * all goes by name, so that a rebalance has one answer. Claims become the target assignment before,
 * which the coordinator wrote itself: it names no partition that does not exist and none twice. Of
 * two claims that one stands whose member wants the topic, then the newer; of equal ones, none.
 */
final class ServerAdapter implements Adapter.Assignor {

  private static final int FIRST_ID = 2; // the lesser ones mean something to Kafka

  private final PartitionAssignor assignor;

  private ServerAdapter(PartitionAssignor assignor) {
    this.assignor = assignor;
  }

  public static void main(String[] arguments) throws IOException {
    Adapter.serve(arguments[0], new ServerAdapter(assignor(arguments[0])));
  }

  static PartitionAssignor assignor(String name) {
    return switch (name) {
      case "server-range" -> new RangeAssignor();
      case "server-uniform" -> new UniformAssignor();
      default -> throw new IllegalArgumentException("no assignor " + name);
    };
  }

  @Override
  public Map<String, Map<String, Collection<Integer>>> assign(Rebalance rebalance) {
    var group = Group.of(rebalance);
    var given = assignor.assign(group, group).members();
    var held = new HashMap<String, Map<String, Collection<Integer>>>();
    for (String id : group.memberIds()) { // who is left out gets nothing, says the coordinator
      held.put(id, given.containsKey(id) ? group.named(given.get(id)) : Map.of());
    }
    return held;
  }

  /** Kafka compares the names, those of topics that do not exist among them. */
  static SubscriptionType type(Rebalance rebalance) {
    long kinds =
        rebalance.members().values().stream()
            .map(member -> Set.copyOf(member.subscription()))
            .distinct()
            .count();
    return kinds <= 1 ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS;
  }

  private record Wanted(
      Set<Uuid> subscribedTopicIds, Optional<String> rackId, Optional<String> instanceId)
      implements MemberSubscription {}

  private record Held(Map<Uuid, Set<Integer>> partitions) implements MemberAssignment {}

  private record Place(Uuid topic, int number) {}

  private record Claim(String member, boolean isWanted, int generation)
      implements Comparable<Claim> {

    @Override
    public int compareTo(Claim other) {
      int byWish = Boolean.compare(isWanted, other.isWanted);
      return byWish != 0 ? byWish : Integer.compare(generation, other.generation);
    }
  }

  /** Ids ascend with the names, as do their hashes, by which sets of them are gone through. */
  private record Group(
      Map<Uuid, String> names,
      Map<Uuid, Rebalance.Topic> topics,
      Map<String, MemberSubscription> wanted,
      Map<String, MemberAssignment> held,
      Set<Place> assigned,
      SubscriptionType subscriptionType)
      implements GroupSpec, SubscribedTopicDescriber {

    static Group of(Rebalance rebalance) {
      var ids = new HashMap<String, Uuid>();
      var names = new HashMap<Uuid, String>();
      var topics = new HashMap<Uuid, Rebalance.Topic>();
      for (String name : new TreeSet<>(rebalance.topics().keySet())) {
        if (rebalance.topics().get(name).partitions() > 0) {
          var id = new Uuid(0, FIRST_ID + ids.size());
          ids.put(name, id);
          names.put(id, name);
          topics.put(id, rebalance.topics().get(name));
        }
      }
      var wanted = new TreeMap<String, MemberSubscription>();
      rebalance.members().forEach((id, one) -> wanted.put(id, wants(one, ids)));
      var owners = owners(rebalance, ids, topics);
      return new Group(
          names, topics, wanted, targets(owners), owners.keySet(), type(rebalance));
    }

    private static MemberSubscription wants(Rebalance.Member member, Map<String, Uuid> ids) {
      var known =
          member.subscription().stream()
              .filter(ids::containsKey)
              .map(ids::get)
              .collect(Collectors.toCollection(TreeSet::new));
      return new Wanted(
          known, Optional.ofNullable(member.rack()), Optional.ofNullable(member.instanceId()));
    }

    private static Map<Place, String> owners(
        Rebalance rebalance, Map<String, Uuid> ids, Map<Uuid, Rebalance.Topic> topics) {
      var claims = new HashMap<Place, Claim>();
      var isDisputed = new HashSet<Place>();
      rebalance.members().forEach((id, member) -> member.eachOwned((topic, number) -> {
        var known = ids.get(topic);
        if (known == null || number >= topics.get(known).partitions()) {
          return;
        }
        var place = new Place(known, number);
        boolean isWanted = member.subscription().contains(topic);
        var claim = new Claim(id, isWanted, member.generationOrUnknown());
        var other = claims.get(place);
        if (other == null || other.compareTo(claim) < 0) {
          claims.put(place, claim);
          isDisputed.remove(place);
        } else if (other.compareTo(claim) == 0) {
          isDisputed.add(place);
        }
      }));
      claims.keySet().removeAll(isDisputed);
      var owners = new HashMap<Place, String>();
      claims.forEach((place, claim) -> owners.put(place, claim.member()));
      return owners;
    }

    /** Unmodifiable maps, as the coordinator's own are: the assignors look at the class. */
    private static Map<String, MemberAssignment> targets(Map<Place, String> owners) {
      var held = new HashMap<String, Map<Uuid, Set<Integer>>>();
      owners.forEach((place, member) -> held
          .computeIfAbsent(member, id -> new TreeMap<>())
          .computeIfAbsent(place.topic(), id -> new TreeSet<>())
          .add(place.number()));
      var targets = new HashMap<String, MemberAssignment>();
      held.forEach((id, all) -> targets.put(id, new Held(Collections.unmodifiableMap(all))));
      return targets;
    }

    Map<String, Collection<Integer>> named(MemberAssignment assignment) {
      var topics = new TreeMap<String, Collection<Integer>>();
      assignment.partitions().forEach((id, all) -> {
        if (!all.isEmpty()) {
          topics.put(names.get(id), new TreeSet<>(all));
        }
      });
      return topics;
    }

    @Override
    public Collection<String> memberIds() {
      return wanted.keySet();
    }

    @Override
    public boolean isPartitionAssigned(Uuid topic, int number) {
      return assigned.contains(new Place(topic, number));
    }

    @Override
    public boolean isPartitionAssignable(Uuid topic, int number) {
      return true;
    }

    @Override
    public MemberSubscription memberSubscription(String id) {
      return wanted.get(id);
    }

    @Override
    public MemberAssignment memberAssignment(String id) {
      return held.getOrDefault(id, new Held(Collections.emptyMap()));
    }

    @Override
    public int numPartitions(Uuid topic) {
      return topics.containsKey(topic) ? topics.get(topic).partitions() : -1;
    }

    @Override
    public Set<String> racksForPartition(Uuid topic, int number) {
      return Set.copyOf(topics.get(topic).racksOf(number));
    }
  }
}
