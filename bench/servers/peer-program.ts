/**
 * A peer as a program: `peer-program PEER FOLDER NAMES serve DNS` answers checks as a server that asks the DNS server at DNS, and
 * `peer-program PEER FOLDER NAMES lines INPUT OUT` writes a result for each line of a file.
 */

import { setServers } from "node:dns"
import { Resolver } from "node:dns/promises"
import { once } from "node:events"
import { createWriteStream } from "node:fs"
import { open, readFile } from "node:fs/promises"
import { createServer, type IncomingMessage } from "node:http"
import { createRequire } from "node:module"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import type { PeerName } from "./peers.ts"

/** What a peer says of an address. */
type Verdict = boolean | Promise<boolean>
type Judge = (email: string) => Verdict

const [, , peer = "", folder = "", namesFile = "", task = "", ...rest] = process.argv

const isNode = process.versions["bun"] === undefined

const domainOf = (email: string): string => email.slice(email.lastIndexOf("@") + 1)

/** A package out of the folder of the peer. Its types are unknown here, since it is not installed with the project. */
// biome-ignore lint/suspicious/noExplicitAny: a package that is not there when types are checked
const load = async (name: string): Promise<any> =>
  await import(pathToFileURL(createRequire(join(folder, "package.json")).resolve(name)).href)

async function setJudge(): Promise<Judge> {
  const names = new Set((await readFile(namesFile, "utf8")).split("\n"))
  return email => names.has(domainOf(email))
}

/** The four questions of a check about a domain, which all must be answered. */
async function questionsJudge(): Promise<Judge> {
  const resolver = new Resolver()
  resolver.setServers([rest[0] ?? ""])
  return async email => {
    const domain = domainOf(email)
    const [hosts] = await Promise.all([
      resolver.resolveMx(domain),
      resolver.resolveTxt(domain),
      resolver.resolve4(domain),
      resolver.resolveTxt(`_dmarc.${domain}`),
    ])
    return hosts.length > 0
  }
}

const JUDGES: { readonly [P in PeerName]: () => Promise<Judge> } = {
  "Bun.serve, Set": setJudge,
  "Elysia, Set": setJudge,
  mailchecker: async () => {
    const { default: checker } = await load("mailchecker")
    return email => checker.isValid(email)
  },
  "disposable-email-domains-js": async () => {
    const { isDisposableEmail } = await load("disposable-email-domains-js")
    return email => isDisposableEmail(email)
  },
  "email-validator": async () => {
    const { default: validator } = await load("email-validator")
    return email => validator.validate(email)
  },
  "deep-email-validator": async () => {
    const { validate } = await load("deep-email-validator")
    return async email => (await validate({ email, validateSMTP: false })).valid
  },
  "node-email-verifier": async () => {
    const { default: verify } = await load("node-email-verifier")
    return email => verify(email, { checkMx: true, checkDisposable: true })
  },
  "node:dns of Bun": questionsJudge,
  "node:dns of Node": questionsJudge,
}

type Body = { readonly email?: string; readonly items?: readonly string[] }

/** The answer to a check, or to each item of a batch. */
function answerTo(judge: Judge, { email, items }: Body): object | Promise<object> {
  if (items !== undefined) return { results: items.map(item => ({ email: item, verdict: judge(item) })) }
  const verdict = judge(email ?? "")
  return verdict instanceof Promise ? verdict.then(known => ({ email, verdict: known })) : { email, verdict }
}

async function serveOnBun(judge: Judge): Promise<string> {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async request => Response.json(await answerTo(judge, (await request.json()) as Body)), // what the bench sends
  })
  return server.url.origin
}

async function serveOnElysia(judge: Judge): Promise<string> {
  const { Elysia, t } = await import("elysia")
  const app = new Elysia()
    .post("/v1/check", ({ body }) => answerTo(judge, body), { body: t.Object({ email: t.String() }) })
    .post("/v1/check/batch", ({ body }) => answerTo(judge, body), { body: t.Object({ items: t.Array(t.String()) }) })
    .listen({ hostname: "127.0.0.1", port: 0 })
  return `http://127.0.0.1:${app.server?.port}`
}

async function serveOnNode(judge: Judge): Promise<string> {
  const read = async (request: IncomingMessage): Promise<Body> => {
    let text = ""
    for await (const chunk of request.setEncoding("utf8")) text += chunk
    return JSON.parse(text)
  }
  const server = createServer(async (request, response) => {
    const answer = JSON.stringify(await answerTo(judge, await read(request)))
    response.writeHead(200, { "Content-Type": "application/json" }).end(answer)
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}` // it listens on a port
}

async function classifyLines(judge: Judge, input: string, out: string): Promise<void> {
  const file = await open(input)
  const sink = createWriteStream(out)
  let page = ""
  for await (const line of file.readLines()) {
    page += `${line},${await judge(line)}\n`
    if (page.length < 262_144) continue
    if (!sink.write(page)) await once(sink, "drain")
    page = ""
  }
  sink.end(page)
  await once(sink, "finish")
}

const judge = await JUDGES[peer as PeerName]() // the bench gives the name of a peer
if (task === "lines") await classifyLines(judge, rest[0] ?? "", rest[1] ?? "")
else {
  setServers([rest[0] ?? ""])
  const serve = isNode ? serveOnNode : peer === "Elysia, Set" ? serveOnElysia : serveOnBun
  console.log(`the peer listens on ${await serve(judge)}`)
}
