import { bounded } from "./bounded.ts"

/** How a program ended, and all that it said. */
export type Ended = { readonly code: number; readonly out: string; readonly err: string }

/**
 * A program in a process of its own. Whatever it says is read at once, so it never waits for a reader. Who waits for it
 * is told, after a minute, what it was doing; then it is killed.
 */
export type Program = {
  readonly pid: number
  /** All that it has printed as soon as that matches. Rejects when it ends before. */
  readonly printed: (wanted: RegExp) => Promise<string>
  /** All that it has complained of, or logged, as soon as that matches. Rejects when it ends before. */
  readonly complained: (wanted: RegExp) => Promise<string>
  /** Resolves when it is over. */
  readonly ended: () => Promise<Ended>
  /** All that it has complained of, or logged, so far. */
  readonly complaints: () => string
  /** Asks it to stop, and resolves when it is over. */
  readonly stop: (by?: "SIGTERM" | "SIGINT") => Promise<Ended>
  /** Sends it what it does not end by. */
  readonly tell: (what: "SIGHUP" | "SIGUSR2") => void
  /** Ends it at once, if it still runs. */
  readonly kill: () => Promise<unknown>
}

/** Starts a program in a directory, with this environment and no other. */
export function startProgram(
  command: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): Program {
  const child = Bun.spawn([...command], { cwd, env: { ...env }, stdin: "ignore", stdout: "pipe", stderr: "pipe" })
  const [out, err] = [received(child.stdout), received(child.stderr)]
  const over = Promise.all([child.exited, out.end, err.end]).then(([code]) => ({
    code,
    out: out.text(),
    err: err.text(),
  }))
  const state = (): string => {
    const end = child.exitCode ?? child.signalCode
    const is = end === null ? "still runs" : `ended (${end})`
    return `\`${command.join(" ")}\` ${is}, printed ${JSON.stringify(out.text())} and complained ${JSON.stringify(err.text())}`
  }
  const waitedFor = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await bounded(work, state)
    } catch (fault) {
      child.kill("SIGKILL")
      throw fault
    }
  }
  const reply = async (stream: typeof out, wanted: RegExp): Promise<string> => {
    const text = await waitedFor(Promise.race([stream.until(wanted), over.then(() => null)]))
    // The end may have come together with the words.
    if (text === null && !wanted.test(stream.text())) throw new Error(`${state()} without ${wanted}`)
    return text ?? stream.text()
  }
  const ended = (): Promise<Ended> => waitedFor(over)
  return {
    pid: child.pid,
    printed: wanted => reply(out, wanted),
    complained: wanted => reply(err, wanted),
    ended,
    complaints: err.text,
    stop: (by = "SIGTERM") => {
      child.kill(by)
      return ended()
    },
    tell: what => child.kill(what),
    kill: () => {
      child.kill("SIGKILL")
      return child.exited
    },
  }
}

/** Reads a stream to its end. `until` resolves with all of its text once that matches. */
function received(stream: ReadableStream<Uint8Array>) {
  const decoder = new TextDecoder()
  const waits = new Set<() => void>()
  let text = ""
  const read = async (): Promise<void> => {
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true })
      for (const look of waits) look()
    }
  }
  const until = (wanted: RegExp): Promise<string> =>
    new Promise(resolve => {
      const look = (): void => {
        if (!wanted.test(text)) return
        waits.delete(look)
        resolve(text)
      }
      waits.add(look)
      look()
    })
  return { text: () => text, end: read(), until }
}
