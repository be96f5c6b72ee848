// Many kafkajs members, driven by lines of JSON: "open", "owned" and "close", each with the name of
// a member. Answers carry the number of what was asked: {"number", "ok"} or {"number", "error"}.
'use strict'

const fs = require('fs')
const path = require('path')
const readline = require('readline')
const { Kafka, PartitionAssigners, logLevel } = require('kafkajs')

const members = new Map()

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

// What a member gets, gives up and reads, told as it happens; and the time that it takes for it.
class Watch {
  constructor (name, { settings, record_ms: recordMs, sync, store }) {
    Object.assign(this, { name, settings, recordMs, sync, store, slowMs: 0, held: new Map() })
  }

  file (topic, partition) {
    return path.join(this.store, `${topic}-${partition}`)
  }

  // Begin where it is kept outside Kafka, where the group does so.
  seekToStored (consumer, assignment) {
    for (const [topic, partition] of this.store ? pairs(assignment) : []) {
      const file = this.file(topic, partition)
      if (fs.existsSync(file)) consumer.seek({ topic, partition, offset: fs.readFileSync(file, 'utf8') })
    }
  }

  keep (topic, partition, offset) {
    if (!this.store) return
    const fresh = `${this.file(topic, partition)}.${this.name.replaceAll('/', '-')}`
    fs.writeFileSync(fresh, String(offset))
    fs.renameSync(fresh, this.file(topic, partition))
  }

  // Its settings by the names of kafkajs; what is not given is the library's default.
  get config () {
    const names = {
      'session.timeout.ms': 'sessionTimeout',
      'heartbeat.interval.ms': 'heartbeatInterval',
      'metadata.max.age.ms': 'metadataMaxAge'
    }
    const given = Object.entries(this.settings).filter(([name]) => names[name])
    return Object.fromEntries(given.map(([name, value]) => [names[name], value]))
  }

  tell (event, partitions) {
    const line = { event, name: this.name, at: Date.now(), partitions }
    process.stdout.write(JSON.stringify(line) + '\n')
  }

  owns (assignment) {
    const now = new Map(pairs(assignment).map((pair) => [pair.join(), pair]))
    const gone = [...this.held].filter(([key]) => !now.has(key))
    const come = [...now].filter(([key]) => !this.held.has(key))
    this.held = now
    if (gone.length) this.tell('gave', gone.map(([, pair]) => pair))
    if (come.length) this.tell('got', come.map(([, pair]) => pair))
  }

  async read ({ topic, partition, message }) {
    const offset = Number(message.offset)
    this.tell('read', [[topic, partition, offset, offset + 1]])
    const takes = this.recordMs + this.slowMs
    this.slowMs = 0
    await pause(takes)
    this.keep(topic, partition, offset + 1)
  }

  // What an application does while its consumer runs; kafkajs can do no more.
  grant (consumer, { what }) {
    const held = [...this.held.values()]
    const named = held.map(([topic, partition]) => ({ topic, partitions: [partition] }))
    switch (what) {
      case 'pause':
        return consumer.pause(named)
      case 'resume':
        return consumer.resume(consumer.paused())
      case 'seek':
        return held.forEach(([topic, partition]) => consumer.seek({ topic, partition, offset: '0' }))
      default:
        throw new Error(`kafkajs cannot ${what}`)
    }
  }
}

const openWatched = async (asked) => {
  const kafka = new Kafka({ brokers: asked.servers.split(','), clientId: asked.client, logLevel: logLevel.NOTHING })
  const watch = new Watch(asked.name, asked.watch)
  const consumer = kafka.consumer({ groupId: asked.group, ...watch.config })
  const member = { consumer, owned: {}, failed: null, watch }
  const { GROUP_JOIN, REBALANCING, CRASH, STOP } = consumer.events
  consumer.on(GROUP_JOIN, ({ payload }) => {
    watch.seekToStored(consumer, payload.memberAssignment)
    watch.owns(payload.memberAssignment)
  })
  for (const event of [REBALANCING, CRASH, STOP]) consumer.on(event, () => watch.owns({}))
  await consumer.connect()
  await consumer.subscribe({ topics: asked.topics, fromBeginning: true })
  const eachMessage = async (found) => {
    await watch.read(found)
    const { topic, partition, message } = found
    if (watch.sync) await consumer.commitOffsets([{ topic, partition, offset: String(Number(message.offset) + 1) }])
  }
  await consumer.run({ autoCommit: !watch.sync && !watch.store, eachMessage })
  return member
}

const open = async (asked) => {
  if (asked.watch) return openWatched(asked)
  const kafka = new Kafka({
    brokers: asked.servers.split(','),
    clientId: asked.client,
    logLevel: logLevel.NOTHING
  })
  const consumer = kafka.consumer({
    groupId: asked.group,
    heartbeatInterval: asked.heartbeat_ms,
    sessionTimeout: asked.session_ms,
    metadataMaxAge: asked.refresh_ms,
    maxWaitTimeInMs: 200,
    partitionAssigners: [PartitionAssigners.roundRobin]
  })
  const member = { consumer, owned: {}, failed: null }
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => { member.owned = payload.memberAssignment })
  consumer.on(consumer.events.REBALANCING, () => { member.owned = {} })
  consumer.on(consumer.events.CRASH, ({ payload }) => { member.failed = String(payload.error) })
  await consumer.connect()
  const topics = asked.pattern ? [new RegExp(asked.pattern)] : asked.topics
  await consumer.subscribe({ topics, fromBeginning: true })
  await consumer.run({ autoCommit: false, eachMessage: async () => {} })
  return member
}

const pairs = (owned) =>
  Object.entries(owned).flatMap(([topic, partitions]) => partitions.map((number) => [topic, number]))

const act = async (asked) => {
  switch (asked.op) {
    case 'open':
      members.set(asked.name, await open(asked))
      return {}
    case 'wish': {
      const { consumer, watch } = members.get(asked.name)
      watch.grant(consumer, asked.wish)
      return {}
    }
    case 'slow':
      members.get(asked.name).watch.slowMs = asked.ms
      return {}
    case 'close': {
      const { consumer } = members.get(asked.name)
      members.delete(asked.name)
      await consumer.disconnect()
      return {}
    }
    case 'owned': {
      const answer = { owned: {}, failed: {} }
      for (const name of asked.names) {
        const { owned, failed } = members.get(name)
        answer.owned[name] = pairs(owned)
        if (failed) answer.failed[name] = failed
      }
      return answer
    }
    default:
      throw new Error(`unknown op ${asked.op}`)
  }
}

const lines = readline.createInterface({ input: process.stdin })
lines.on('line', (line) => {
  const asked = JSON.parse(line)
  act(asked)
    .then((answer) => ({ ok: true, ...answer }), (error) => ({ error: String(error) }))
    .then((answer) => process.stdout.write(JSON.stringify({ number: asked.number, ...answer }) + '\n'))
})
lines.on('close', () => process.exit(0))
