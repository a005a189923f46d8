import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "../support/free-port.ts"

/** A foreign server as a child of ours, on loopback, with a directory of its own. Disposing of it ends it and removes both. */
export type ChildServer = AsyncDisposable & {
  readonly address: string
  readonly port: number
  readonly directory: string
}

/** What is started: writes its files into the directory and gives the command. */
type Setting = (directory: string, port: number) => Promise<readonly [program: string, ...args: string[]]>

const ADDRESS = "127.0.0.1"
const STARTS_MAX = 3
/** Where servers of Debian's packages stand; the path of a user need not name it. */
const PATH = `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`

/** Where a program is; null: it is not installed. */
export const programAt = (program: string): string | null => Bun.which(program, { PATH })

/** Starts a server on a free port and waits until it says `ready`. Rejects with what it said when it ends before. */
export async function startChild(setting: Setting, ready: RegExp): Promise<ChildServer> {
  for (let start = 1; ; start++) {
    try {
      return await startedOnce(setting, ready)
    } catch (fault) {
      // The port was free a moment ago, and may be taken now.
      if (start === STARTS_MAX) throw fault
    }
  }
}

/** Runs a program to its end, in a directory, and gives what it printed. Rejects with its complaint when it fails. */
export async function ran(directory: string, program: string, ...args: readonly string[]): Promise<string> {
  const child = Bun.spawn([programAt(program) ?? program, ...args], { cwd: directory, stdout: "pipe", stderr: "pipe" })
  const [out, complaint, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`${program} failed (${code}): ${complaint}`)
  return out.trim()
}

async function startedOnce(setting: Setting, ready: RegExp): Promise<ChildServer> {
  const directory = await mkdtemp(join(tmpdir(), "mailkind-dns-"))
  const remove = () => rm(directory, { recursive: true, force: true })
  try {
    const port = freePort()
    const [program, ...args] = await setting(directory, port)
    const child = Bun.spawn([programAt(program) ?? program, ...args], {
      cwd: directory,
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    })
    const end = async () => {
      child.kill("SIGTERM")
      await child.exited
      await remove()
    }
    await hasSaid(child.stderr, ready).catch(async fault => {
      await end()
      throw fault
    })
    return { address: ADDRESS, port, directory, [Symbol.asyncDispose]: end }
  } catch (fault) {
    await remove()
    throw fault
  }
}

/** Waits for words of a server, and goes on to read what it says, so that it never has to wait for a reader. */
function hasSaid(stream: ReadableStream<Uint8Array>, wanted: RegExp): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder()
    let reply = ""
    for await (const chunk of stream) {
      reply += decoder.decode(chunk, { stream: true })
      if (wanted.test(reply)) resolve()
    }
    reject(new Error(`the server ended and had said: ${reply.trim()}`))
  }
  void read().catch(reject)
  return promise
}
