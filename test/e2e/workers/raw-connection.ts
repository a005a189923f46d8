import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { connect, type Socket } from "node:net"

/** What an answer held. */
export type RawResponse = { readonly status: number; readonly body: Record<string, unknown> }

/** One connection to a server on loopback, which sends what it is given and reads one answer at a time. */
export type RawConnection = {
  /** Sends a check; `isHeld` keeps back the end of its body, so that it stays in flight until `finish`. */
  readonly check: (key: string | null, input: object, isHeld?: boolean) => void
  readonly finish: () => void
  /** Sends a GET of the path. */
  readonly get: (path: string) => void
  /** The next answer. Rejects when the connection ends before. */
  readonly answer: () => Promise<RawResponse>
  /** The id of the process at the other end, once it has answered or begun to. */
  readonly owner: (pids: readonly number[]) => number | null
  readonly close: () => void
}

/** Connects to the port. */
export async function connectRaw(port: number): Promise<RawConnection> {
  const socket = connect(port, "127.0.0.1")
  const answers = answersOf(socket)
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject))
  let held = ""
  return {
    check: (key, input, isHeld = false) => {
      const body = JSON.stringify(input)
      const head = `POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`
      held = isHeld ? body.slice(1) : ""
      socket.write(`${head}${key === null ? "" : `X-API-Key: ${key}\r\n`}\r\n${isHeld ? body.slice(0, 1) : body}`)
    },
    finish: () => void socket.write(held),
    get: path => void socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`),
    answer: async () => {
      const { value, done } = await answers.next()
      if (done === true) throw new Error("the connection ended before the answer")
      return value
    },
    owner: pids => ownerOf(port, socket.localPort ?? 0, pids),
    close: () => void socket.destroy(),
  }
}

async function* answersOf(socket: Socket): AsyncGenerator<RawResponse, undefined> {
  let text = ""
  socket.setEncoding("latin1")
  try {
    for await (const part of socket) {
      text += String(part)
      for (let end = text.indexOf("\r\n\r\n"); end >= 0; end = text.indexOf("\r\n\r\n")) {
        const head = text.slice(0, end)
        const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0)
        if (text.length < end + 4 + length) break
        const body = text.slice(end + 4, end + 4 + length)
        text = text.slice(end + 4 + length)
        yield { status: Number(head.slice(9, 12)), body: body === "" ? {} : JSON.parse(body) }
      }
    }
  } catch (fault) {
    // A process that is killed resets its connections.
    if (!(fault instanceof Error && "code" in fault)) throw fault
  }
}

/** Looks in proc(5) for the process that has the other end of a connection; null: none of these has. */
function ownerOf(serverPort: number, clientPort: number, pids: readonly number[]): number | null {
  const port = (number: number): string => `:${number.toString(16).toUpperCase().padStart(4, "0")}`
  const line = readFileSync("/proc/net/tcp", "latin1")
    .split("\n")
    .map(text => text.trim().split(/\s+/))
    .find(([, local = "", remote = ""]) => local.endsWith(port(serverPort)) && remote.endsWith(port(clientPort)))
  const file = `socket:[${line?.[9]}]`
  return pids.find(pid => filesOf(pid).includes(file)) ?? null
}

function filesOf(pid: number): readonly string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap(name => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${name}`)
    } catch (closed) {
      if (closed instanceof Error && "code" in closed && closed.code === "ENOENT") return []
      throw closed
    }
  })
}
