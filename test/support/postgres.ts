import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { lazy } from "../../src/base/lazy.ts"
import { bounded } from "./bounded.ts"
import { freePort } from "./free-port.ts"

const NEEDED = ["initdb", "postgres", "createdb", "pg_dump"]
const DEBIAN = "/usr/lib/postgresql"

/** Where PostgreSQL's programs are: Debian keeps them out of the PATH, by version. Null: it is not installed. */
export const POSTGRES_PROGRAMS: string | null = programs()

function programs(): string | null {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : []
  const places = [...versions.map(version => join(DEBIAN, version, "bin")), ...(process.env["PATH"] ?? "").split(":")]
  return places.find(path => NEEDED.every(name => existsSync(join(path, name)))) ?? null
}

/** PostgreSQL refuses to run as root. */
export const AS_POSTGRES =
  process.getuid?.() === 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : []

/** A PostgreSQL server on loopback that runs, whoever has started it. */
export type PostgresServer = {
  readonly port: number
  /** The URL of one of its databases. */
  readonly url: (database: string) => string
  /** Runs one of PostgreSQL's programs as its user and gives what it prints. */
  readonly program: (name: string, ...words: string[]) => string
}

/** A PostgreSQL server of our own, which can be stopped and hurt. */
export type PostgresCluster = PostgresServer & {
  readonly directory: string
  /** `fast` ends all connections and writes what is held, `immediate` is as good as a crash, `kill` is one. */
  readonly stop: (how?: keyof typeof ENDS) => Promise<void>
  readonly start: () => Promise<void>
  /** Suspends every process of it, which then neither answers nor closes a connection, until the returned function is called. */
  readonly freeze: () => () => void
  /** Makes and starts another server that follows this one, which from now on acknowledges nothing that the other has not. */
  readonly standby: () => Promise<PostgresCluster>
  /** Makes and starts another server over a copy of the data as it is now, which goes its own way from here: a backup that is restored. */
  readonly copy: () => Promise<PostgresCluster>
  /** Has one that follows another write by itself. */
  readonly promote: () => Promise<void>
  /** Stops it and removes its files. */
  readonly remove: () => Promise<void>
}

/**
 * Runs until its input ends, which it does with the test run, however that ends: no server is left behind. A line that it reads
 * names the signal to end it by.
 */
const KEEPER = `"$@" </dev/null & pid=$!; echo "$pid"; read -r signal || signal=QUIT; kill -"$signal" "$pid"; wait "$pid"`

/** How a server is asked to end, and the signal that asks it. */
const ENDS = { fast: "INT", immediate: "QUIT", kill: "KILL" } as const

/**
 * Whether the version is before 15: then a database has no provider of locales but the C library, every user may create tables in the
 * schema `public`, and statistics come later.
 */
export const isBefore15: () => boolean = lazy(() => {
  const [, major] = /(\d+)/.exec(programsIn(binaries())("initdb", "--version")) ?? []
  return Number(major) < 15
})

const providers = (...words: readonly string[]): readonly string[] => (isBefore15() ? [] : words)

/** Words for `createdb` that make a database that cannot hold every text. */
export const asciiDatabase = (): readonly string[] => [
  ...["--encoding=SQL_ASCII", "--locale=C"],
  ...providers("--locale-provider=libc"),
]

/**
 * Makes and starts a server whose text sorts as people do, not by bytes, where its version can, so that nothing may rely on the database's
 * order. `settings` are `name=value`, and win over those of tests.
 */
export function startPostgres(settings: readonly string[] = []): Promise<PostgresCluster> {
  const locale = ["--locale=C.UTF-8", ...providers("--locale-provider=icu", "--icu-locale=en-US")]
  return startOver(
    program => files =>
      program("initdb", "--no-sync", "--auth=trust", "--username=mailkind", "--encoding=UTF8", ...locale, files),
    settings,
  )
}

type Program = PostgresServer["program"]

/** The server on loopback that listens on this port. */
export function postgresAt(port: number): PostgresServer {
  return { port, url: database => `postgres://mailkind@127.0.0.1:${port}/${database}`, program: programsIn(binaries()) }
}

function binaries(): string {
  if (POSTGRES_PROGRAMS === null) throw new Error("PostgreSQL is not installed")
  return POSTGRES_PROGRAMS
}

const programsIn =
  (path: string): Program =>
  (name, ...words) =>
    run(...AS_POSTGRES, join(path, name), ...words)

/** Starts a server over the files that `make` makes. */
async function startOver(
  make: (program: Program) => (files: string) => unknown,
  settings: readonly string[],
): Promise<PostgresCluster> {
  const path = binaries()
  // Beside the directory of the run, into which its user may not go, and of the same kind of name.
  const directory = mkdtempSync(join(AS_POSTGRES.length === 0 ? tmpdir() : "/tmp", `mailkind-tests-${process.pid}-`))
  if (AS_POSTGRES.length > 0) run("chown", "postgres:postgres", directory)
  const program = programsIn(path)
  const state = { files: join(directory, "data"), server: null as Server | null }
  make(program)(state.files)
  const port = freePort()
  const start = async (): Promise<void> => {
    const set = [...SETTINGS, ...settings].flatMap(setting => ["-c", setting])
    state.server = await serve([...AS_POSTGRES, join(path, "postgres"), "-D", state.files, "-p", String(port), ...set])
  }
  const stop = async (how: keyof typeof ENDS = "fast"): Promise<void> => {
    await state.server?.end(ENDS[how])
    state.server = null
  }
  await start()
  const server = postgresAt(port)
  const from = ["--host", "127.0.0.1", "--port", String(port), "--username", "mailkind"]
  const tell = (sql: string) => program("psql", "--quiet", "--dbname", server.url("postgres"), "--command", sql)
  return {
    ...server,
    directory,
    start,
    stop,
    freeze: () => state.server?.freeze() ?? (() => undefined),
    copy: () => startOver(own => files => own("pg_basebackup", ...BASE_BACKUP, ...from, "--pgdata", files), settings),
    standby: async () => {
      const copy = [...BASE_BACKUP, "--write-recovery-conf", ...from]
      const other = await startOver(own => files => own("pg_basebackup", ...copy, "--pgdata", files), settings)
      tell("ALTER SYSTEM SET synchronous_standby_names = '*'")
      tell("SELECT pg_reload_conf()")
      return other
    },
    promote: async () => {
      program("pg_ctl", "promote", "--wait", "--silent", "--pgdata", state.files)
      // What it followed had another wait for it; it has none.
      tell("ALTER SYSTEM RESET synchronous_standby_names")
      tell("SELECT pg_reload_conf()")
    },
    remove: async () => {
      await stop("immediate")
      rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

const BASE_BACKUP = ["--checkpoint=fast", "--no-sync", "--wal-method=stream"]

/** Nothing needs to outlive the machine, and hundreds of tests have some connections each. */
const SETTINGS = [
  "listen_addresses=127.0.0.1",
  "unix_socket_directories=",
  "fsync=off",
  "full_page_writes=off",
  "max_connections=500",
]

type Server = {
  readonly end: (signal: (typeof ENDS)[keyof typeof ENDS]) => Promise<void>
  readonly freeze: () => () => void
}

async function serve(command: readonly string[]): Promise<Server> {
  const keeper = Bun.spawn(["sh", "-c", KEEPER, "keeper", ...command], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  })
  const reply: string[] = []
  const ready = Promise.withResolvers<void>()
  const listen = async (): Promise<void> => {
    for await (const part of keeper.stderr) {
      reply.push(new TextDecoder().decode(part))
      if (/ready to accept (?:read-only )?connections/.test(reply.join(""))) ready.resolve()
      if (reply.length > 1000) reply.splice(0, 900)
    }
    ready.reject(new Error(`PostgreSQL ended and had said ${reply.join("")}`))
  }
  void listen()
  const first = await keeper.stdout.getReader().read()
  const pid = Number(new TextDecoder().decode(first.value).trim())
  await bounded(ready.promise, () => `PostgreSQL has said ${reply.join("")}`)
  return {
    end: async signal => {
      keeper.stdin.write(`${signal}\n`)
      await keeper.stdin.end()
      await bounded(keeper.exited, () => "PostgreSQL still runs")
    },
    freeze: () => {
      const children = run("ps", "-o", "pid=", "--ppid", String(pid)).split("\n").map(Number)
      const all = [pid, ...children.filter(child => child > 0)]
      for (const each of all) signalIfThere(each, "SIGSTOP")
      return () => {
        for (const each of all) signalIfThere(each, "SIGCONT")
      }
    },
  }
}

/** Connections end, and their processes with them. */
function signalIfThere(pid: number, signal: "SIGSTOP" | "SIGCONT"): void {
  try {
    process.kill(pid, signal)
  } catch (fault) {
    if (!(fault instanceof Error && "code" in fault && fault.code === "ESRCH")) throw fault
  }
}

function run(...command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: "/" })
  if (exitCode !== 0) throw new Error(`${command.join(" ")} failed: ${stderr.toString()}`)
  return stdout.toString()
}
