// A consumer of @platformatic/kafka. The leader of this client assigns only the topics that
// it subscribes to itself.
import * as client from '@platformatic/kafka'
import { consume } from './consumer.mjs'

const COOPERATIVE = 'cooperative-sticky'

/** Return an error and its causes, the innermost last. */
function causes(error) {
  return error ? [error, ...causes(error.cause ?? error.errors?.at(-1))] : []
}

await consume(async ({ settings, assignors: [name], topics }, fail) => {
  const version = name === COOPERATIVE ? client.CONSUMER_PROTOCOL_HIGHEST_VERSION : 1
  const consumer = new client.Consumer({
    clientId: 'wire',
    groupId: settings['group.id'],
    bootstrapBrokers: [settings['bootstrap.servers']],
    protocols: [{ name, version }],
    heartbeatInterval: settings['heartbeat.interval.ms'],
    retries: 0,
    retryDelay: settings['retry.backoff.ms']
  })
  consumer.on('error', fail)
  consumer.topics.trackAll(...topics)
  await consumer.joinGroup({})
}, causes)
