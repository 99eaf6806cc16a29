// A consumer of @platformatic/kafka that runs until its input ends.
//
// Arguments: address, group, topics with commas between them, assignor. The leader of this
// client assigns only the topics that it subscribes to itself.
import * as client from '@platformatic/kafka'

const RAISED = 70 // EX_SOFTWARE
const COOPERATIVE = 'cooperative-sticky'

function fail(error) {
  for (let cause = error; cause; cause = cause.cause ?? cause.errors?.at(-1)) {
    console.error(String(cause)) // the last line has the innermost error
  }
  process.exit(RAISED)
}

const [address, group, topics, name] = process.argv.slice(2)
const version = name === COOPERATIVE ? client.CONSUMER_PROTOCOL_HIGHEST_VERSION : 1
const consumer = new client.Consumer({
  clientId: 'wire',
  groupId: group,
  bootstrapBrokers: [address],
  protocols: [{ name, version }],
  heartbeatInterval: 100,
  retries: 0,
  retryDelay: 1
})
consumer.on('error', fail)
process.stdin.resume()
process.stdin.on('end', () => process.exit(0))
try {
  consumer.topics.trackAll(...topics.split(',').filter(Boolean))
  await consumer.joinGroup({})
} catch (error) {
  fail(error)
}
