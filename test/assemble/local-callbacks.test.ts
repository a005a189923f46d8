import { expect, test } from "bun:test"
import { createCallbackPost } from "../../src/assemble/customers/callbacks.ts"
import { parseSettings } from "../../src/config/settings.ts"
import { parseCallback } from "../../src/http/request/job-input.ts"
import { hostWeb, redirectTo } from "../support/host-web.ts"
import { createFakeTime } from "../support/time.ts"
import { zone } from "../support/zone.ts"

const answered = () => ["HTTP/1.1 204 x\r\nContent-Length: 0\r\n\r\n"]

/** The POST of callbacks with these settings. Each host that it may reach answers 204, but `moved.example`. */
function postWith(environment: Readonly<Record<string, string>>) {
  const read = parseSettings(environment)
  if (read.kind === "faulty") throw new Error(read.faults.join())
  const web = hostWeb({
    "127.0.0.1:3000": answered,
    "[::1]:3000": answered,
    "127.0.0.1:80": answered,
    "127.0.0.1:443": answered,
    "93.184.216.34:443": answered,
    "93.184.216.35:443": redirectTo("http://localhost:3000/hook"),
  })
  const resolver = zone({
    "A crm.acme.com": ["93.184.216.34"],
    "A moved.acme.com": ["93.184.216.35"],
    "A rebound.acme.com": ["127.0.0.1"],
    "A localhost": ["93.184.216.34"],
  }).ask
  const system = { connect: web.connect, setTimer: createFakeTime().later }
  const post = createCallbackPost({ system, settings: read.settings }, resolver)
  return { web, postTo: async (url: string) => await post(url, { headers: {}, body: "{}" }) }
}

const LOCAL_URLS = [
  "http://localhost:3000/hook?of=lists",
  "http://127.0.0.1:3000/hook",
  "http://[::1]:3000/hook",
  "http://localhost/",
]

test.each(LOCAL_URLS)(
  "a callback to %s is taken and sent to this host with MAILKIND_CALLBACKS=local alone",
  async url => {
    expect(parseCallback(url, true)).toEqual({ kind: "url", url })
    expect(parseCallback(url, false)).toMatchObject({ kind: "fault" })
    const local = postWith({ MAILKIND_CALLBACKS: "local" })
    expect(await local.postTo(url)).toEqual({ known: true, status: 204 })
    expect(local.web.attempts.map(({ address }) => address)).toEqual([url.includes("::1") ? "::1" : "127.0.0.1"])
    expect(local.web.requests.join("")).toContain(`POST ${new URL(url).pathname}`)
    const usual = postWith({})
    expect(await usual.postTo(url)).toMatchObject({ known: false })
    expect(usual.web.attempts).toEqual([])
  },
)

test("a server without other hosts sends callbacks to this one", async () => {
  const { postTo } = postWith({ MAILKIND_CALLBACKS: "local", MAILKIND_OUTSIDE: "off" })
  expect(await postTo("http://localhost:3000/hook")).toEqual({ known: true, status: 204 })
  expect(await postTo("https://crm.acme.com/hook")).toEqual({ known: false, cause: "outside_off" })
})

const REFUSED_URLS = [
  "http://127.0.0.2:3000/",
  "http://10.0.0.1/",
  "http://0.0.0.0:3000/",
  "http://[::ffff:127.0.0.1]:3000/",
  "http://localhost.acme.com/",
  "http://evil.localhost/",
  "http://user@localhost:3000/",
  "http://crm.acme.com/hook",
  "https://localhost/hook",
  "https://127.0.0.1/hook",
  "ftp://localhost/",
]

test.each(REFUSED_URLS)("MAILKIND_CALLBACKS=local takes %s no more than before", async url => {
  expect(parseCallback(url, true)).toMatchObject({ kind: "fault" })
  const { web, postTo } = postWith({ MAILKIND_CALLBACKS: "local" })
  expect(await postTo(url)).toMatchObject({ known: false })
  expect(web.attempts).toEqual([])
})

test("with MAILKIND_CALLBACKS=local a name that leads to this host is refused, and a redirect to it is not followed", async () => {
  const { web, postTo } = postWith({ MAILKIND_CALLBACKS: "local" })
  expect(await postTo("https://rebound.acme.com/hook")).toEqual({ known: false, cause: "not_public" })
  expect(web.attempts).toEqual([])
  expect(await postTo("https://moved.acme.com/hook")).toEqual({ known: true, status: 302 })
  expect(await postTo("https://crm.acme.com/hook")).toEqual({ known: true, status: 204 })
  expect(web.attempts.map(({ address }) => address)).toEqual(["93.184.216.35", "93.184.216.34"])
})
