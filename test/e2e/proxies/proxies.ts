import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http"
import { request } from "node:https"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ROOT } from "../../architecture/source-files.ts"
import { bounded } from "../../support/bounded.ts"
import { freePort } from "../../support/free-port.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { type Program, startProgram } from "../../support/program.ts"

/** The name in the samples. */
export const HOST = "mail.example.com"

/** What differs from the sample where it is tried: ports, files and the address of the server. */
type Place = {
  readonly directory: string
  readonly httpPort: number
  readonly httpsPort: number
  readonly upstream: string
  /** A certificate with its key in one file, and each in its own. */
  readonly pem: string
  readonly certificate: string
  readonly key: string
}

type ProxyKind = {
  readonly file: string
  /** What replaces what in the sample; each must be there. */
  readonly changes: (place: Place) => readonly (readonly [sample: string | RegExp, here: string])[]
  /** The command that starts it with the changed sample at this path. */
  readonly command: (program: string, sample: string, place: Place) => readonly string[]
}

const PROXIES = {
  nginx: {
    file: "nginx.conf",
    changes: ({ directory, httpPort, httpsPort, upstream, certificate, key }) => [
      ["listen 80;", `listen 127.0.0.1:${httpPort};`],
      ["listen 443 ", `listen 127.0.0.1:${httpsPort} `],
      ["127.0.0.1:8080", upstream],
      ["/etc/letsencrypt/live/mail.example.com/fullchain.pem", certificate],
      ["/etc/letsencrypt/live/mail.example.com/privkey.pem", key],
      ["/var/log/nginx/", `${directory}/`],
    ],
    command: (program, sample, { directory }) => {
      const own = join(directory, "nginx.conf")
      // It runs as whoever starts it, who owns the directory.
      const user = process.getuid?.() === 0 ? "user root;" : ""
      writeFileSync(
        own,
        `${user} daemon off; pid ${directory}/pid; error_log stderr; events {} http { ${TEMPORARY.map(kind => `${kind}_temp_path ${directory}/${kind};`).join(" ")} include ${sample}; }`,
      )
      return [program, "-p", directory, "-e", "stderr", "-c", own]
    },
  },
  caddy: {
    file: "Caddyfile",
    changes: ({ httpPort, httpsPort, upstream, certificate, key }) => [
      [/^\{\n/m, `{\n\tadmin off\n\tdefault_bind 127.0.0.1\n\thttp_port ${httpPort}\n\thttps_port ${httpsPort}\n`],
      ["\nmail.example.com {\n", `\nmail.example.com {\n\ttls ${certificate} ${key}\n`],
      ["127.0.0.1:8080", upstream],
    ],
    command: (program, sample) => [program, "run", "--config", sample, "--adapter", "caddyfile"],
  },
  haproxy: {
    file: "haproxy.cfg",
    changes: ({ directory, httpPort, httpsPort, upstream, pem }) => [
      ["bind :80\n", `bind 127.0.0.1:${httpPort}\n`],
      ["bind :443 ", `bind 127.0.0.1:${httpsPort} `],
      ["/etc/haproxy/mailkind.pem", pem],
      ["/run/haproxy/admin.sock", join(directory, "s")],
      ["10.0.0.11:8080", upstream],
      [/\n.*10\.0\.0\.12:8080/, ""],
    ],
    command: (program, sample) => [program, "-db", "-f", sample],
  },
} as const satisfies Readonly<Record<string, ProxyKind>>
export type ProxyName = keyof typeof PROXIES
export const PROXY_NAMES = Object.keys(PROXIES) as readonly ProxyName[]

/** Where nginx keeps what does not fit into its memory. */
const TEMPORARY = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]

// Debian keeps two of them where the path of users does not lead.
const programOf = (name: ProxyName): string | null =>
  [Bun.which(name), `/usr/sbin/${name}`].find(path => path !== null && existsSync(path)) ?? null

/** What is missing for a test behind this proxy. */
export const missingFor = (name: ProxyName): readonly string[] => [
  ...(programOf(name) === null ? [name] : []),
  ...(Bun.which("openssl") === null ? ["openssl"] : []),
]

/** What is sent through a proxy beside method and path. */
export type SentThrough = {
  readonly headers?: Readonly<Record<string, string>>
  /** The address of loopback that the client has. */
  readonly from?: string
}

/** A proxy that runs. */
export type RunningProxy = {
  readonly httpPort: number
  /** Opens a request. Whoever opens it ends it. */
  readonly open: (line: string, sent?: SentThrough) => ClientRequest
  /** Sends a request with its body and gives the answer. */
  readonly ask: (line: string, sent?: SentThrough & { readonly body?: string | Buffer }) => Promise<Through>
  /** All that the proxy has written so far, whatever the file. */
  readonly written: () => string
}

/** An answer that came through a proxy. */
export type Through = {
  readonly status: number
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

/** Starts a proxy by its sample, on loopback before the server at `upstream`, such as `127.0.0.1:8080`. */
export async function startProxy(name: ProxyName, upstream: string): Promise<RunningProxy> {
  const program = programOf(name)
  if (program === null) throw new Error(`${name} is not installed`)
  const directory = mkdtempSync(join(tmpdir(), "p"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const place = { directory, httpPort: freePort(), httpsPort: freePort(), upstream, ...certificateIn(directory) }
  const kind: ProxyKind = PROXIES[name]
  const sample = join(directory, "sample")
  writeFileSync(sample, changed(readFileSync(join(ROOT, "data/deploy", kind.file), "utf8"), kind.changes(place)))
  for (const kept of TEMPORARY) mkdirSync(join(directory, kept))
  const running = startProgram(kind.command(program, sample, place), directory, { HOME: directory, PATH: "" })
  onTestEnd(running.kill)
  const { open, ask } = clientOf(place.httpsPort)
  await bounded(isUp(ask), running.complaints)
  return { httpPort: place.httpPort, open, ask, written: () => written(running, directory) }
}

/** The sample with the changes. Throws where one finds nothing to change. */
function changed(sample: string, changes: ReturnType<ProxyKind["changes"]>): string {
  return changes.reduce((text, [from, to]) => {
    const next = text.replaceAll(typeof from === "string" ? from : new RegExp(from, `${from.flags}g`), to)
    if (next === text) throw new Error(`there is no ${from} in\n${text}`)
    return next
  }, sample)
}

/** A certificate that nobody but itself vouches for. */
function certificateIn(directory: string): Pick<Place, "pem" | "certificate" | "key"> {
  const [pem, certificate, key] = ["both.pem", "own.pem", "own.key"].map(name => join(directory, name)) as [
    string,
    string,
    string,
  ]
  const names = ["-subj", `/CN=${HOST}`, "-addext", `subjectAltName=DNS:${HOST}`]
  const made = Bun.spawnSync(
    ["openssl", "req", "-x509", "-nodes", "-days", "2", ...names, "-keyout", key, "-out", certificate],
    { stdout: "ignore", stderr: "pipe" },
  )
  if (made.exitCode !== 0) throw new Error(made.stderr.toString())
  writeFileSync(pem, readFileSync(certificate, "utf8") + readFileSync(key, "utf8"))
  return { pem, certificate, key }
}

/** What asks the proxy by its name. Each request has a connection of its own. */
function clientOf(port: number): Pick<RunningProxy, "open" | "ask"> {
  const open: RunningProxy["open"] = (line, { headers = {}, from } = {}) => {
    const [method = "GET", path = "/"] = line.split(" ")
    return request({
      ...{ host: "127.0.0.1", port, servername: HOST, rejectUnauthorized: false, agent: false, method, path },
      headers: { Host: HOST, ...headers },
      ...(from === undefined ? {} : { localAddress: from }),
    })
  }
  return {
    open,
    ask: (line, { body, ...sent } = {}) => {
      const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) }
      const asked = open(line, { ...sent, headers: { ...length, ...sent.headers } })
      const answer = answerTo(asked)
      asked.end(body)
      return bounded(answer, () => line)
    },
  }
}

/** The answer to a request. Rejects when none comes. */
export async function answerTo(asked: ClientRequest): Promise<Through> {
  const { promise, resolve, reject } = Promise.withResolvers<Through>()
  asked.on("error", reject)
  asked.on("response", answer => {
    const parts: Buffer[] = []
    answer.on("data", part => parts.push(part))
    answer.on("error", reject)
    answer.on("end", () =>
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(parts).toString() }),
    )
  })
  return await promise.finally(() => asked.destroy())
}

/** Resolves when the proxy passes something on. */
async function isUp(ask: RunningProxy["ask"]): Promise<void> {
  for (;;) {
    const health = await ask("GET /v1/health").catch(() => null)
    if (health?.status === 200) return
    await Bun.sleep(20)
  }
}

/** The answer of the plain port. */
export function askPlain(port: number, path: string): Promise<Through> {
  const asked = httpRequest({ host: "127.0.0.1", port, path, agent: false, headers: { Host: HOST } })
  const answer = answerTo(asked)
  asked.end()
  return bounded(answer, () => path)
}

function written(running: Program, directory: string): string {
  const log = join(directory, "mailkind.log")
  return running.complaints() + (existsSync(log) ? readFileSync(log, "utf8") : "")
}
