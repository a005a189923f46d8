import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { acceptTakeovers, findPreviousServer } from "../../src/process/takeover.ts"
import type { ControlConnection, ControlSockets } from "../../src/system/control-socket.ts"
import { createSystem } from "../../src/system/system.ts"
import { outcomeOf } from "../support/outcome-of.ts"
import { createFakeTime, settled } from "../support/time.ts"

const LOCATION = { dataDirectory: "/data", port: 8080 }

/** How long a process at the socket may keep others waiting, and one that waits alone may take to start. */
const [CONTENDED_MS, START_MS] = [20_000, 60_000]

/** Control sockets in memory. */
function memorySockets(): ControlSockets {
  let accept: ((connection: ControlConnection) => void) | null = null
  return {
    listen: (_, onConnection) => {
      accept = onConnection
      return () => undefined
    },
    connect: async () => {
      if (accept === null) return null
      const [own, other] = connectionPair()
      accept(other)
      return own
    },
  }
}

function connectionPair(): readonly [ControlConnection, ControlConnection] {
  const ends = [createEnd(), createEnd()] as const
  const connect = (own: (typeof ends)[0], other: (typeof ends)[0]): ControlConnection => ({
    send: message => other.put(message),
    receive: own.take,
    close: () => {
      own.put(null)
      other.put(null)
    },
  })
  return [connect(...ends), connect(ends[1], ends[0])]
}

/** The messages that one end receives; null: the connection is closed. */
function createEnd() {
  const messages: (string | null)[] = []
  let wake = (): void => undefined
  return {
    put: (message: string | null): void => {
      messages.push(message)
      wake()
    },
    take: async (): Promise<string | null> => {
      while (messages.length === 0)
        await new Promise<void>(resolve => {
          wake = resolve
        })
      return messages[0] === null ? null : (messages.shift() ?? null)
    },
  }
}

/** A server that accepts takeovers in a time that stands still, and processes that connect to it. */
function openServer() {
  const time = createFakeTime()
  const sleep = (ms: number): Promise<void> => new Promise(resolve => void time.later(ms, resolve))
  const system = { ...createSystem(), controlSockets: memorySockets(), setTimer: time.later, sleep }
  const seen = { aborts: 0, isDraining: false }
  const hooks = {
    sharePort: async () => 1,
    onAbort: () => {
      seen.aborts++
    },
  }
  const { drainRequested } = acceptTakeovers(system, LOCATION, hooks, Promise.resolve(), () => undefined)
  void drainRequested.then(() => {
    seen.isDraining = true
  })
  const connect = async (...messages: readonly string[]): Promise<ControlConnection> => {
    const connection = await system.controlSockets.connect("")
    if (connection === null) throw new Error("nobody listens")
    for (const message of messages) connection.send(message)
    return connection
  }
  return { time, system, seen, connect, find: () => findPreviousServer(system, LOCATION) }
}

describe("a process at the control socket that stands still", () => {
  test.each([[], ["share"]])(
    "is let go within a minute, whether it has asked to take over or not: %p",
    async (...messages) => {
      const { time, connect } = openServer()
      const still = await connect(...messages)
      await time.tick(START_MS)
      const received = []
      for (let message = await still.receive(); message !== null; message = await still.receive())
        received.push(message)
      expect(received).toEqual(messages.length === 0 ? [] : ["shared 1", "late"])
      expect(time.waiting()).toBe(0)
    },
  )

  test("keeps no other from taking over: the next one has its turn before it gives up", async () => {
    const { time, seen, connect, find } = openServer()
    await connect()
    await connect("share")
    await settled()
    const next = find()
    await time.tick(CONTENDED_MS - 1)
    expect(seen.aborts).toBe(0)
    await time.tick(1)
    expect(await next).toMatchObject({ socketCount: 1 })
    expect(seen).toEqual({ aborts: 1, isDraining: false })
  })

  test("and others like it, however many and whatever they say, delay a takeover by a minute each at most", async () => {
    const words = fc.array(fc.constantFrom("share", "leave it", "shared 1", "late", ""), { maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(fc.array(words, { maxLength: 5 }), async peers => {
        const { time, seen, connect } = openServer()
        for (const messages of peers) await connect(...messages)
        const next = await connect("share")
        void next.receive().then(message => next.send(message === "shared 1" ? "leave" : "nothing"))
        await time.tick(peers.length * START_MS)
        expect(seen.isDraining).toBe(true)
      }),
      { numRuns: 50 },
    )
  })
})

describe("a server that takes over", () => {
  test("has a minute to start while nobody else waits", async () => {
    const { time, seen, find } = openServer()
    const previous = await find()
    await time.tick(START_MS - 1)
    const isWaiting = outcomeOf(previous?.assertWaiting())
    await time.tick(0)
    expect(await isWaiting).not.toThrow()
    void previous?.takeOver(() => undefined, { socketCount: () => 1, route: async () => true })
    await settled()
    expect(seen).toEqual({ aborts: 0, isDraining: true })
  })

  test("and starts too slowly does not serve beside the one that goes on", async () => {
    const { time, seen, find } = openServer()
    const previous = await find()
    await time.tick(START_MS)
    const isWaiting = outcomeOf(previous?.assertWaiting())
    await time.tick(0)
    expect(await isWaiting).toThrow("Start this one again")
    expect(seen).toEqual({ aborts: 1, isDraining: false })
    expect(await find()).toMatchObject({ socketCount: 1 })
  })
})
