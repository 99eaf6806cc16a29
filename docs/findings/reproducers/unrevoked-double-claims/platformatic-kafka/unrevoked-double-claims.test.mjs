// A partition with two claims is assigned while a claimant may still read it
//
// platformatic-kafka 2.12.1, assignor cooperative-sticky: unrevoked.
// rule unrevoked, member b, topic t, partition 3, claimant a.
//
// Run it with
//
//     npm install @platformatic/kafka@2.12.1
//     node --test unrevoked-double-claims.test.mjs
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CONSUMER_PROTOCOL_HIGHEST_VERSION,
  decodeConsumerProtocolSubscription,
  encodeConsumerProtocolSubscription
} from '@platformatic/kafka'

// The package does not export its assigners in every version.
const main = import.meta.resolve('@platformatic/kafka')
const assigners = await import(new URL('./clients/consumer/partitions-assigners.js', main))

// The number of partitions of each topic; no other topic exists.
const TOPICS = new Map(Object.entries({ "t": 4 }))
// The members by id; the first leads. An unknown generation is -1.
const MEMBERS = new Map([
  ["a", { "generation": 1, "owned": { "t": [2, 3] }, "rack": undefined, "topics": ["t"] }],
  ["b", { "generation": 2, "owned": { "t": [2] }, "rack": undefined, "topics": ["t"] }],
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
  const given = assigners.cooperativeStickyAssigner(leader, joined, new Set(topics), metadata)
  return new Map(
    given.map(({ memberId, assignments }) => [
      memberId,
      [...assignments.values()].map(({ topic, partitions }) => [topic, partitions])
    ])
  )
}

/** Return what the leader knows of a member. */
function read(memberId, one) {
  const ownedPartitions = Object.entries(one.owned)
    .filter(([topic]) => one.topics.includes(topic))
    .map(([topic, partitions]) => ({ topic, partitions }))
  const sent = encodeConsumerProtocolSubscription({
    version: CONSUMER_PROTOCOL_HIGHEST_VERSION,
    topics: one.topics,
    ownedPartitions,
    generationId: ownedPartitions.length > 0 ? one.generation : -1,
    rackId: one.rack ?? null
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

/** Yield the claims that count. */
function* claimed(members) {
  const held = [...members].map(([id, one]) => [id, Object.entries(one.owned)])
  for (const one of places(held)) {
    if (members.get(one.member).topics.includes(one.topic) && one.n < (TOPICS.get(one.topic) ?? 0)) {
      yield one
    }
  }
}

/** Return who claims each partition: the members with the newest claim. */
function claims(members) {
  const claimants = new Map()
  for (const { member, name } of claimed(members)) {
    const others = claimants.get(name) ?? []
    const newest = others.length ? members.get(others[0]).generation : -2
    const { generation } = members.get(member)
    if (generation >= newest) {
      claimants.set(name, generation > newest ? [member] : [...others, member])
    }
  }
  return claimants
}

/** Yield what is assigned to a member while another one holds it. */
function* violations(members, held) {
  const claimants = claims(members)
  for (const { member, name } of places(held)) {
    for (const other of claimants.get(name) ?? []) {
      if (other !== member) {
        yield `${member} receives ${name} while ${other} holds it`
      }
    }
  }
}

/** Return whether a member has to give up what it holds, and joins again. */
function revokes(members, held) {
  const kept = new Set([...places(held)].map(({ member, name }) => JSON.stringify([member, name])))
  const assigned = new Set([...places(held)].map(({ name }) => name))
  const claims = places([...members].map(([id, one]) => [id, Object.entries(one.owned)]))
  return [...claims].some(
    ({ member, topic, n, name }) =>
      n < (TOPICS.get(topic) ?? 0) &&
      !kept.has(JSON.stringify([member, name])) &&
      (members.get(member).topics.includes(topic) || !assigned.has(name))
  )
}

/** Return the members in the next round, with what they received as their claims. */
function rejoined(members, held) {
  const generation = Math.max(...[...members.values()].map(one => one.generation)) + 1
  return new Map(
    [...members].map(([id, one]) => {
      const owned = (held.get(id) ?? []).filter(([, numbers]) => numbers.length > 0)
      return [id, { ...one, owned: Object.fromEntries(owned), generation }]
    })
  )
}

async function check() {
  let members = MEMBERS
  let held
  for (let round = 1; ; round++) { // until nobody has to revoke anything (KIP-429)
    assert.ok(round <= 16, 'finding: restless: members still revoke after 16 rounds')
    held = await answer(members)
    for (const violation of violations(members, held)) {
      assert.fail(`finding: unrevoked: ${violation}`)
    }
    if (!revokes(members, held)) {
      break
    }
    members = rejoined(members, held)
  }
}

test("unrevoked-double-claims", check)
