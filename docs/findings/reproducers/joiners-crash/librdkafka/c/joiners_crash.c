/* Members of single topics that join an owner of several topics end the process
 *
 * librdkafka 2.16.1, assignor cooperative-sticky: crash.
 *
 * One member owns all partitions of two topics. Five members with one topic each join.
 * All are ordinary consumers in a group of librdkafka's own mock cluster.
 *
 * It needs librdkafka with its headers (librdkafka/rdkafka.h, rdkafka_mock.h), which a
 * package of the library alone does not contain: apt-get install librdkafka-dev, dnf
 * install librdkafka-devel, or brew install librdkafka. pkg-config --modversion rdkafka
 * states the version.
 *
 * Run it with
 *
 *     cc -o joiners-crash joiners_crash.c -lrdkafka && ./joiners-crash
 */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MEMBERS 6
#define PARTITIONS 4 /* of each of two topics */
#define ATTEMPTS 5 /* ids of members, which break ties, are random */
#define SECONDS 90 /* to a stable group */

static const char *const topics[MEMBERS][2] = {
    {"t1", "t2"}, {"t2", NULL}, {"t2", NULL}, {"t2", NULL}, {"t2", NULL}, {"t1", NULL},
};

static void die(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(2);
}

static void set(rd_kafka_conf_t *conf, const char *name, const char *value) {
  char error[256];
  if (rd_kafka_conf_set(conf, name, value, error, sizeof(error)) != RD_KAFKA_CONF_OK)
    die(error);
}

static rd_kafka_t *joined(const char *bootstraps, const char *const *wanted) {
  char error[256];
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  set(conf, "bootstrap.servers", bootstraps);
  set(conf, "group.id", "g");
  set(conf, "partition.assignment.strategy", "cooperative-sticky");
  rd_kafka_t *member = rd_kafka_new(RD_KAFKA_CONSUMER, conf, error, sizeof(error));
  if (!member)
    die(error);
  rd_kafka_poll_set_consumer(member);
  rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(2);
  for (int i = 0; i < 2 && wanted[i]; i++)
    rd_kafka_topic_partition_list_add(list, wanted[i], RD_KAFKA_PARTITION_UA);
  if (rd_kafka_subscribe(member, list))
    die("subscribe failed");
  rd_kafka_topic_partition_list_destroy(list);
  return member;
}

static int held(rd_kafka_t *member) {
  rd_kafka_topic_partition_list_t *list;
  if (rd_kafka_assignment(member, &list))
    die("assignment failed");
  int count = list->cnt;
  rd_kafka_topic_partition_list_destroy(list);
  return count;
}

/* Polls until the members hold all partitions, and each of them some. */
static int settles(rd_kafka_t **members, int count) {
  for (time_t end = time(NULL) + SECONDS; time(NULL) < end;) {
    int sum = 0, least = 2 * PARTITIONS;
    for (int i = 0; i < count; i++) {
      rd_kafka_message_t *message = rd_kafka_consumer_poll(members[i], 20);
      if (message)
        rd_kafka_message_destroy(message);
      int load = held(members[i]);
      sum += load;
      least = load < least ? load : least;
    }
    if (sum == 2 * PARTITIONS && least > 0)
      return 1;
  }
  return 0;
}

/* Plays the history once: one member, then five more. */
static int play(void) {
  char error[256];
  rd_kafka_t *host =
      rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), error, sizeof(error));
  rd_kafka_mock_cluster_t *cluster = rd_kafka_mock_cluster_new(host, 1);
  rd_kafka_mock_topic_create(cluster, "t1", PARTITIONS, 1);
  rd_kafka_mock_topic_create(cluster, "t2", PARTITIONS, 1);
  const char *bootstraps = rd_kafka_mock_cluster_bootstraps(cluster);
  rd_kafka_t *members[MEMBERS];
  members[0] = joined(bootstraps, topics[0]);
  if (!settles(members, 1))
    die("the first member receives no partitions");
  for (int i = 1; i < MEMBERS; i++)
    members[i] = joined(bootstraps, topics[i]);
  return settles(members, MEMBERS) ? 0 : 3; /* without leaving: the process ends */
}

int main(void) {
  for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
    int status;
    pid_t child = fork(); /* before librdkafka has started a thread */
    if (child == 0)
      _exit(play());
    if (waitpid(child, &status, 0) < 0)
      die("waitpid failed");
    if (WIFSIGNALED(status)) {
      printf("finding: crash: %s, attempt %d\n", strsignal(WTERMSIG(status)), attempt);
      return 1;
    }
    if (WEXITSTATUS(status) == 3) {
      printf("no stable group within %d s, attempt %d\n", SECONDS, attempt);
      return 1;
    }
    if (WEXITSTATUS(status))
      return WEXITSTATUS(status);
  }
  printf("ok: %d attempts\n", ATTEMPTS);
  return 0;
}
