import { expect, setDefaultTimeout } from "bun:test"
import type { Challenge } from "altcha-lib"
import { LIMITS } from "../../../src/contract/limits.ts"
import { ROUTES } from "../../../src/contract/routes.ts"
import { onPostgres } from "../../customers/engines.ts"
import { solutionOf } from "../../customers/free-checks/open-free-checks.ts"
import { createBrowser, keyIn, linksIn } from "../../support/html-browser.ts"
import { fetchLoopback } from "../../support/loopback.ts"
import { testSmtp } from "../../support/smtp-server.ts"
import { type Cluster, createCluster } from "./cluster.ts"

setDefaultTimeout(180_000)

const ORIGIN = "http://mail.example"

/** Browsers each of whose requests another node gets than had the one before. */
async function browsers(settings: Readonly<Record<string, string>> = {}) {
  const all = await createCluster(2, { MAILKIND_BASE_URL: ORIGIN, MAILKIND_TRUSTED_PROXIES: "127.0.0.1", ...settings })
  for (const { serve } of all.nodes) await serve()
  let turn = 0
  const app = (request: Request): Promise<Response> => answered(all, turn++, request)
  return {
    open: (client: string) =>
      createBrowser(app, { origin: ORIGIN, followsRedirects: true, headers: { "X-Forwarded-For": client } }),
  }
}

async function answered({ nodes }: Cluster, turn: number, request: Request): Promise<Response> {
  const { port } = nodes[turn % nodes.length] ?? { port: 0 }
  const { pathname, search } = new URL(request.url)
  return await fetchLoopback(request, `http://127.0.0.1:${port}${pathname}${search}`)
}

onPostgres(
  "whoever signs in is known to every node, by code and by link, and so are their forms and sessions",
  async () => {
    const smtp = await testSmtp()
    const { open } = await browsers({ MAILKIND_SMTP_URL: smtp.url, MAILKIND_MAIL_FROM: "keys@mk.example.com" })
    const jane = open("192.0.2.1")
    const codeForm = await jane.submit(await jane.get(ROUTES.signIn.path), { email: "jane@example.com" })
    await smtp.takes(1)
    const welcome = await jane.submit(codeForm, { code: /^ {4}(\d{6})\r?$/m.exec(smtp.taken[0]?.raw ?? "")?.[1] ?? "" })
    expect(keyIn(welcome.html)).not.toBeNull()
    // Twice, so that each of the two nodes is asked by this browser for the page and for what its form does.
    for (const name of ["Shop", "Desk"]) {
      const made = await jane.submit(await jane.get(ROUTES.newKey.path), { name }, "Create key")
      expect(keyIn(made.html)).not.toBeNull()
      const keys = await jane.get(ROUTES.keys.path)
      expect(keys.text).toContain(name)
      await jane.get(ROUTES.docsGuide.path)
    }
    const own = linksIn(await jane.get(ROUTES.keys.path)).find(path =>
      path.startsWith(`${ROUTES.dashboard.path}/keys/key_`),
    )
    const revoked = await jane.submit(await jane.get(own ?? ""), {}, "Revoke key")
    expect(revoked.text).toContain("revoked")

    const elsewhere = open("192.0.2.2")
    await elsewhere.submit(await elsewhere.get(ROUTES.signIn.path), { email: "jane@example.com" })
    // Notices about the key come too, and in any order.
    const links = () =>
      smtp.taken.flatMap(({ raw }) => /http:\/\/mail\.example(\/sign-in\/link\S+)/.exec(raw)?.[1] ?? [])
    for (let count = 2; links().length < 2; count++) await smtp.takes(count)
    const again = await elsewhere.submit(await elsewhere.get(links()[1] ?? ""))
    expect(again.status).toBe(200)
    for (let round = 0; round < 2; round++) expect((await elsewhere.get(ROUTES.keys.path)).text).toContain("Shop")

    await jane.submit(await jane.get(ROUTES.dashboard.path), {}, "Sign out")
    for (let round = 0; round < 2; round++)
      expect((await jane.get(ROUTES.dashboard.path)).path.split("?")[0]).toBe(ROUTES.signIn.path)
  },
)

onPostgres(
  "the free checks of a site are counted by all nodes together, and a challenge of one is worth a pass of another, once",
  async () => {
    const { open } = await browsers()
    // The visitors of one site share an allowance, and none of them is too fast.
    const seen: number[] = []
    for (let check = 0; check <= LIMITS.freeChecksPerSiteAndDay; check++) {
      const visitor = open(`2001:db8:1:${Math.floor(check / 3).toString(16)}::1`)
      seen.push((await visitor.post(ROUTES.postHome.path, { input: "jane@gmail.com" })).status)
    }
    expect(seen).toEqual([...Array(LIMITS.freeChecksPerSiteAndDay).fill(200), 403])

    // Of the same networks' neighbours, so that no limit a second is in the way.
    const challenge: Challenge = JSON.parse((await open("192.0.2.2").get(ROUTES.getPassChallenge.path)).html)
    const solution = await solutionOf(challenge)
    const solver = open("192.0.2.3")
    expect((await solver.post(ROUTES.postHome.path, { input: "jane@gmail.com", solution })).status).toBe(200)
    const pass = solver.cookies.get("mailkind_pass") ?? ""
    expect(pass).toMatch(/^\w{32}$/)
    for (let round = 0; round < 2; round++) {
      const other = open(`192.0.2.${4 + round}`)
      other.cookies.set("mailkind_pass", pass)
      expect((await other.post(ROUTES.postHome.path, { input: "jane@gmail.com" })).status).toBe(200)
      expect(other.cookies.get("mailkind_pass")).toBe(pass)
      const copier = open(`192.0.2.${6 + round}`)
      await copier.post(ROUTES.postHome.path, { input: "jane@gmail.com", solution })
      expect(copier.cookies.get("mailkind_pass")).toBeUndefined()
    }
  },
)
