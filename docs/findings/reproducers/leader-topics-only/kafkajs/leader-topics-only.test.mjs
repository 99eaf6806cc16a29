// The leader assigns only the topics to which it subscribes itself
//
// kafkajs 2.2.4, assignor roundrobin: invalid.
// rule unassigned, topic u, partition 0.
//
// Run it with
//
//     npm install kafkajs@2.2.4
//     node --test leader-topics-only.test.mjs
import assert from 'node:assert/strict'
import { test } from 'node:test'
import kafkajs from 'kafkajs'

const { AssignerProtocol, PartitionAssigners } = kafkajs

// The number of partitions of each topic; no other topic exists.
const TOPICS = new Map(Object.entries({ "t": 1, "u": 1 }))
// The members by id; the first leads. An unknown generation is -1.
const MEMBERS = new Map([
  ["a", { "generation": -1, "owned": {}, "rack": undefined, "topics": ["t"] }],
  ["b", { "generation": -1, "owned": {}, "rack": undefined, "topics": ["u"] }],
])

/** Do what the leader of the group does: it passes the topics that it subscribes to. */
async function assign(members) {
  const cluster = {
    findTopicPartitionMetadata: topic =>
      Array.from({ length: TOPICS.get(topic) ?? 0 }, (_, partitionId) => ({ partitionId }))
  }
  const assigner = PartitionAssigners.roundRobin({ cluster })
  const joined = [...members].map(([memberId, { topics }]) => ({
    memberId,
    memberMetadata: assigner.protocol({ topics }).metadata
  }))
  const [{ topics }] = members.values()
  const given = await assigner.assign({ members: joined, topics })
  return new Map(
    given.map(({ memberId, memberAssignment }) => [
      memberId,
      Object.entries(AssignerProtocol.MemberAssignment.decode(memberAssignment).assignment)
    ])
  )
}

/** Let the leader assign. */
async function answer(members) {
  return assign(members)
}

/** Yield the partitions that members hold. */
function* places(held) {
  for (const [member, topics] of held) {
    for (const [topic, numbers] of topics) {
      for (const n of numbers) {
        yield { member, topic, n, name: `${topic}:${n}` }
      }
    }
  }
}

/** Yield what is wrong with an assignment. */
function* violations(members, held) {
  const seen = new Set()
  for (const { member, topic, n, name } of places(held)) {
    if (!members.has(member)) {
      yield `${member} is not in the group`
    } else if (n >= (TOPICS.get(topic) ?? 0)) {
      yield `${member} receives ${name}, which does not exist`
    } else if (!members.get(member).topics.includes(topic)) {
      yield `${member} receives ${name}, but does not subscribe to it`
    } else if (seen.has(name)) {
      yield `${name} is assigned twice`
    }
    seen.add(name)
  }
  for (const { topics } of members.values()) {
    for (const topic of topics) {
      for (let n = 0; n < (TOPICS.get(topic) ?? 0); n++) {
        if (!seen.has(`${topic}:${n}`)) {
          yield `nobody receives ${topic}:${n}`
        }
      }
    }
  }
}

async function check() {
  const held = await answer(MEMBERS)
  for (const violation of violations(MEMBERS, held)) {
    assert.fail(`finding: invalid: ${violation}`)
  }
}

test("leader-topics-only", check)
