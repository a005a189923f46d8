import { connect } from "node:net"

/** What callers got: answers by who gave them, and what came in place of an answer. */
export type Tally = { readonly answered: number; readonly lost: readonly string[] }

/** Callers that ask one after the other until they are stopped, each over connections of its own. */
export type Callers = {
  readonly stop: () => Promise<Tally>
  /** Resolves when so many answers have come. */
  readonly got: (count: number) => Promise<void>
}

/** How many callers there are, and how long each waits after an answer before it asks again. */
export type CallRate = { readonly count: number; readonly pauseMs: number }

/**
 * Starts callers of a path on loopback. `isKept`: each asks over one connection until an answer ends it; else over a
 * new one each time. A caller goes on when it has lost an answer, and tells how.
 */
export function startCallers(port: number, path: string, { count, pauseMs }: CallRate, isKept: boolean): Callers {
  const lost: string[] = []
  const waits: { readonly count: number; readonly resolve: () => void }[] = []
  let [answered, isOver] = [0, false]
  const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${isKept ? "" : "Connection: close\r\n"}\r\n`
  const taken = (): void => {
    answered++
    for (const wait of waits) if (answered >= wait.count) wait.resolve()
  }
  const isLast = (text: string): boolean => !isKept || isOver || /^connection: close/im.test(text)

  const pause = async (): Promise<void> => {
    if (pauseMs > 0 && !isOver) await new Promise(resolve => setTimeout(resolve, pauseMs))
  }

  const call = (): Promise<void> =>
    new Promise(done => {
      const socket = connect(port, "127.0.0.1")
      let [text, isAsking] = ["", true]
      let fault = "the end of the connection"
      const ask = (): void => {
        isAsking = true
        text = ""
        socket.write(request)
      }
      socket.on("connect", ask)
      socket.on("data", part => {
        text += String(part)
        if (!isWhole(text)) return
        isAsking = false
        taken()
        if (isLast(text)) socket.end()
        else void pause().then(() => (isOver ? socket.end() : ask()))
      })
      socket.on("error", error => {
        fault = "code" in error ? String(error.code) : error.name
      })
      socket.on("close", () => {
        if (isAsking) lost.push(fault)
        done()
      })
    })
  const lane = async (): Promise<void> => {
    while (!isOver) {
      await call()
      await pause()
    }
  }
  const lanes = Promise.all(Array.from({ length: count }, lane))
  return {
    stop: async () => {
      isOver = true
      await lanes
      return { answered, lost }
    },
    got: wanted =>
      answered >= wanted ? Promise.resolve() : new Promise(resolve => waits.push({ count: wanted, resolve })),
  }
}

function isWhole(text: string): boolean {
  const end = text.indexOf("\r\n\r\n")
  if (end < 0) return false
  return text.length >= end + 4 + Number(/^content-length: (\d+)/im.exec(text)?.[1] ?? 0)
}
