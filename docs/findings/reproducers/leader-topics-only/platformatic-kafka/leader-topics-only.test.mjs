// The leader assigns only the topics to which it subscribes itself
//
// platformatic-kafka 2.12.1, assignor roundrobin: invalid.
// rule unassigned, topic u, partition 0.
//
// Run it with
//
//     npm install @platformatic/kafka@2.12.1
//     node --test leader-topics-only.test.mjs
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  decodeConsumerProtocolSubscription,
  encodeConsumerProtocolSubscription
} from '@platformatic/kafka'

// The package does not export its assigners in every version.
const main = import.meta.resolve('@platformatic/kafka')
const assigners = await import(new URL('./clients/consumer/partitions-assigners.js', main))

// The number of partitions of each topic; no other topic exists.
const TOPICS = new Map(Object.entries({ "t": 1, "u": 1 }))
// The members by id; the first leads. An unknown generation is -1.
const MEMBERS = new Map([
  ["a", { "generation": -1, "owned": {}, "rack": undefined, "topics": ["t"] }],
  ["b", { "generation": -1, "owned": {}, "rack": undefined, "topics": ["u"] }],
])

/** Do what the leader of the group does: it passes the topics that it subscribes to. */
async function assign(members) {
  const [[leader, { topics }]] = members
  const joined = new Map([...members].map(([id, one]) => [id, read(id, one)]))
  const metadata = { topics: new Map() }
  for (const one of joined.values()) {
    for (const topic of one.topics) {
      if (!TOPICS.has(topic)) { // as in the client's consumer
        throw new Error(`metadata for subscribed topic "${topic}" is not available`)
      }
      metadata.topics.set(topic, { partitionsCount: TOPICS.get(topic) })
    }
  }
  if (joined.size === 1) { // it takes everything, without an assigner
    const all = topics.map(topic => [topic, Array.from({ length: TOPICS.get(topic) }, (_, n) => n)])
    return new Map([[leader, all]])
  }
  const given = assigners.roundRobinAssigner(leader, joined, new Set(topics), metadata)
  return new Map(
    given.map(({ memberId, assignments }) => [
      memberId,
      [...assignments.values()].map(({ topic, partitions }) => [topic, partitions])
    ])
  )
}

/** Return what the leader knows of a member. */
function read(memberId, one) {
  const ownedPartitions = []
  const sent = encodeConsumerProtocolSubscription({
    version: 1,
    topics: one.topics,
    ownedPartitions,
    generationId: ownedPartitions.length > 0 ? one.generation : -1,
    rackId: null
  })
  const found = decodeConsumerProtocolSubscription(sent)
  return { memberId, ...found, metadata: found.userData }
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
