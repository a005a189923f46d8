import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../bench/servers/product.ts"
import { type Answered, askLoopback, type Sent } from "./loopback.ts"
import { type Program, startProgram } from "./program.ts"

/** What a victim is started with. */
export type TestServerOptions = {
  /** The product's program, whose commands follow; absent: out of this checkout. */
  readonly program?: readonly string[]
  /** What the server alone is started by: a program that becomes it, such as `prlimit`. */
  readonly by?: (dataDirectory: string) => readonly string[]
  readonly settings?: Readonly<Record<string, string>>
  /** Where its rows are; absent: a directory of its own. */
  readonly dataDirectory?: string
}

/** A server in a process of its own that is to be hurt: killed, starved, and started anew on the same data. Disposing of it removes all. */
export class TestServer implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), "mailkind-victim-"))
  readonly dataDirectory: string
  /** The key that the first start has printed. */
  firstKey = ""
  url = ""
  readonly #program: readonly string[]
  readonly #by: readonly string[]
  readonly #settings: Readonly<Record<string, string>>
  #child: Program | null = null
  #log = ""

  constructor({ program = PROGRAM, by = () => [], settings = {}, dataDirectory }: TestServerOptions = {}) {
    this.#program = program
    this.dataDirectory = dataDirectory ?? join(this.directory, "data")
    this.#by = by(this.dataDirectory)
    this.#settings = settings
  }

  get pid(): number {
    return this.#running.pid
  }

  get port(): number {
    return Number(new URL(this.url).port)
  }

  /** The file of its rows. */
  get database(): string {
    return join(this.dataDirectory, "mailkind.sqlite")
  }

  /** All that its servers have logged. */
  get log(): string {
    return this.#log + (this.#child?.complaints() ?? "")
  }

  /** Starts it, and resolves when it listens. Rejects when it ends before, with what it said. */
  async start(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    const child = this.#spawn(["serve"], this.#by, settings)
    this.#child = child
    const isFirst = this.firstKey === ""
    const printed = await child.printed(isFirst ? /curl [^\n]*\n/ : /listens on [^\n]*\n/)
    this.url = /listens on (\S+)/.exec(printed)?.[1] ?? ""
    this.firstKey = /svc_live_[0-9A-Za-z]{38}/.exec(printed)?.[0] ?? this.firstKey
  }

  /** Starts it where it must not start, and gives its exit code and what it said. */
  async refusedStart(): Promise<{ readonly code: number; readonly description: string }> {
    const { code, err, out } = await this.#spawn(["serve"], this.#by).ended()
    return { code, description: `${out}${err}`.trim() }
  }

  /** Ends it at once. */
  async kill(): Promise<void> {
    await this.#child?.kill()
    this.#forget()
  }

  /** Asks it to stop, and gives its exit code. */
  async stop(): Promise<number> {
    const { code } = await this.#running.stop()
    this.#forget()
    return code
  }

  /** Waits for a line of the log. */
  logged(wanted: RegExp): Promise<string> {
    return this.#running.complained(wanted)
  }

  /** Runs a command on the same data and gives how it ended. */
  async command(...words: readonly string[]) {
    return await this.commandWith({}, ...words)
  }

  /** The same, with further settings. */
  async commandWith(settings: Readonly<Record<string, string>>, ...words: readonly string[]) {
    return await this.#spawn(words, [], settings).ended()
  }

  /** Runs a command and gives the JSON that it prints. Rejects when it fails. */
  async run(...words: readonly string[]): Promise<unknown> {
    const { code, out, err } = await this.command(...words, "--json")
    if (code !== 0) throw new Error(`${words.join(" ")}: ${err}`)
    return JSON.parse(out)
  }

  /** Asks it as one line: method and path. */
  ask(line: string, { key, ...sent }: Omit<Sent, "method"> & { readonly key?: string } = {}): Promise<Answered> {
    const [method = "GET", path = "/"] = line.split(" ")
    const headers = { ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }), ...sent.headers }
    return askLoopback(`${this.url}${path}`, { ...sent, method, headers })
  }

  /** The status of a check of a domain that the lists know. */
  async check(key: string = this.firstKey): Promise<number> {
    const { status } = await this.ask("GET /v1/check?domain=gmail.com", { key })
    return status
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    rmSync(this.directory, { recursive: true, force: true })
  }

  get #running(): Program {
    if (this.#child === null) throw new Error("the server was not started")
    return this.#child
  }

  #forget(): void {
    this.#log = this.log
    this.#child = null
  }

  #spawn(words: readonly string[], by: readonly string[], settings: Readonly<Record<string, string>> = {}): Program {
    const environment = {
      HOME: this.directory,
      PATH: process.env["PATH"] ?? "",
      TMPDIR: tmpdir(),
      MIMALLOC_PURGE_DELAY: "10000",
      MAILKIND_DATA_DIR: this.dataDirectory,
      MAILKIND_PORT: "0",
      MAILKIND_DNS_SERVERS: "off",
      MAILKIND_IDENTITY_URL: "off",
      MAILKIND_LISTS_REFRESH_HOURS: "off",
      // On a machine that is busy otherwise anything may be slow.
      MAILKIND_SLOW_MS: "off",
      ...this.#settings,
      ...settings,
    }
    return startProgram([...by, ...this.#program, ...words], this.directory, environment)
  }
}
