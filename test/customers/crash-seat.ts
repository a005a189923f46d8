/** A program that is started, killed (SIGKILL) at any moment, also while it starts, and started anew in the same place. */
export class Seat {
  /** How often it was killed: who waits for an answer that does not come looks whether this has risen meanwhile. */
  killedCount = 0
  /** What its programs wrote to their standard error. */
  readonly complaints: string[] = []
  readonly #command: readonly string[]
  readonly #environment: Readonly<Record<string, string>>
  #child: Child | null = null
  #isUp = false
  #up = Promise.withResolvers<string>()

  constructor(command: readonly string[], environment: Readonly<Record<string, string>>) {
    this.#command = command
    this.#environment = environment
  }

  /** Starts the program. It is ready when it has printed a line. */
  start(): void {
    const child = startChild(this.#command, this.#environment)
    this.#child = child
    child.line().then(
      line => {
        if (this.#child !== child) return
        this.#isUp = true
        this.#up.resolve(line)
      },
      fault => {
        if (this.#child === child) this.#up.reject(fault)
      },
    )
    this.#up.promise.catch(() => undefined)
  }

  /** The first line of the program that sits here, or of the next one when it is killed before. Rejects when it ends by itself. */
  ready(): Promise<string> {
    return this.#up.promise
  }

  /** Tells the program a line and gives the line that it answers; null: it was killed before it answered. */
  async ask(line: string): Promise<string | null> {
    await this.ready()
    const child = this.#child
    if (child === null) return null
    return await this.orKilled(() => child.ask(line))
  }

  /** What comes of the work, which is with the program that sits here now; null: it failed, and the program was killed. */
  async orKilled<T>(work: () => Promise<T>): Promise<T | null> {
    const before = this.killedCount
    try {
      return await work()
    } catch (fault) {
      if (this.killedCount === before) throw fault
      return null
    }
  }

  /** Kills the program at once, and resolves when it is gone. */
  async kill(): Promise<void> {
    const child = this.#child
    this.#child = null
    this.killedCount++
    if (this.#isUp) this.#up = Promise.withResolvers()
    this.#isUp = false
    const complaint = await child?.kill()
    if (complaint) this.complaints.push(complaint)
  }
}

type Child = ReturnType<typeof startChild>

function startChild(command: readonly string[], environment: Readonly<Record<string, string>>) {
  const child = Bun.spawn([...command], {
    env: { PATH: process.env["PATH"] ?? "", ...environment },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  })
  const lines = linesOf(child.stdout)
  const complaint = new Response(child.stderr).text()
  const line = async (): Promise<string> => {
    const { value, done } = await lines.next()
    if (done === true) throw new Error(`a program ended and had said: ${(await complaint).trim()}`)
    return value
  }
  return {
    line,
    ask: (text: string): Promise<string> => {
      child.stdin.write(`${text}\n`)
      child.stdin.flush()
      return line()
    },
    kill: async (): Promise<string> => {
      child.kill("SIGKILL")
      await child.exited
      return (await complaint).trim()
    },
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder()
  let text = ""
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true })
    const lines = text.split("\n")
    text = lines.pop() ?? ""
    yield* lines
  }
}
