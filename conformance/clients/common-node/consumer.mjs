// A consumer that its argument requests and that runs until its input ends
// (conformance/consumer_programs/python-programs/orders.py documents the argument).
const RAISED = 70 // EX_SOFTWARE

const { settings, assignors, topics: listed } = JSON.parse(process.argv[2])
const topics = listed.flatMap(topic => topic.split(',')).filter(Boolean)

/** Run `start({ settings, assignors, topics }, fail)`; print the errors in one that it throws. */
export async function consume(start, errorsIn = error => [error]) {
  function fail(error) {
    for (const cause of errorsIn(error)) {
      console.error(String(cause))
    }
    process.exit(RAISED)
  }
  process.stdin.resume()
  process.stdin.on('end', () => process.exit(0))
  try {
    await start({ settings, assignors, topics }, fail)
  } catch (error) {
    fail(error)
  }
}
