import type { Fetch } from "../../src/base/fetch.ts"

/** A domain with a tenant. Absent: the region is not told; the realm is `Managed`; there is no sign-in page. */
export type FakeTenant = {
  readonly tenant: string
  readonly region?: unknown
  /** `NameSpaceType`, or how the request for the realm ends instead. */
  readonly realm?: string | Ending
  readonly authUrl?: unknown
}

/** How a request ends without an answer: with a status, by waiting for ever, because nobody listens, or as the test says. */
export type Ending = number | "hangs" | "unreachable" | ((url: URL) => Response | Promise<Response>)

/** What the identity endpoints say of each domain; of any other they say that it has no tenant. */
export type IdentityTable = Readonly<Record<string, FakeTenant | Ending>>

/** The two identity endpoints as a web without sockets, and every URL that it was asked for. */
export function identityWeb(table: IdentityTable): { readonly web: Fetch; readonly requests: string[] } {
  const requests: string[] = []
  const web: Fetch = async (url, { signal }) => {
    requests.push(url)
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true })
    })
    return await Promise.race([answer(table, new URL(url)), aborted])
  }
  return { web, requests }
}

/** The same endpoints behind a loopback address, for whoever has only its URL. */
export function identityServer(table: IdentityTable) {
  const requests: string[] = []
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async request => {
      requests.push(request.url)
      // Over a socket nobody is unreachable once the connection stands: the status says as much.
      return await answer(table, new URL(request.url)).catch(() => new Response(null, { status: 503 }))
    },
  })
  return { url: server.url.href.replace(/\/$/, ""), requests, stop: () => server.stop(true) }
}

async function answer(table: IdentityTable, url: URL): Promise<Response> {
  const [, domain = "", ...rest] = url.pathname.split("/").map(decodeURIComponent)
  const isRealm = domain === "getuserrealm.srf"
  if (!isRealm && rest.join("/") !== "v2.0/.well-known/openid-configuration") return new Response(null, { status: 404 })
  const facts = isRealm ? (url.searchParams.get("login")?.replace(/^x@/, "") ?? "") : domain
  const row = Object.hasOwn(table, facts) ? table[facts] : undefined
  if (row === undefined) return isRealm ? realmOf("Unknown", undefined) : noTenant(facts)
  if (typeof row !== "object") return await ended(row, url)
  if (!isRealm) return openid(row)
  const { realm = "Managed", authUrl } = row
  return typeof realm === "string" && !isEnding(realm) ? realmOf(realm, authUrl) : await ended(realm, url)
}

const isEnding = (word: string): word is "hangs" | "unreachable" => word === "hangs" || word === "unreachable"

async function ended(ending: string | Ending, url: URL): Promise<Response> {
  if (typeof ending === "number") return new Response("{}", { status: ending })
  if (typeof ending === "function") return await ending(url)
  if (ending === "unreachable") throw new TypeError("nobody listens")
  return await new Promise<never>(() => undefined)
}

const openid = ({ tenant, region }: FakeTenant): Response =>
  Response.json({
    issuer: `https://login.example/${tenant}/v2.0`,
    token_endpoint: `https://login.example/${tenant}/oauth2/v2.0/token`,
    ...(region === undefined ? {} : { tenant_region_scope: region }),
  })

const realmOf = (nameSpaceType: string, authUrl: unknown): Response =>
  Response.json({ NameSpaceType: nameSpaceType, ...(authUrl === undefined ? {} : { AuthURL: authUrl }) })

const noTenant = (domain: string): Response =>
  Response.json({ error: "invalid_tenant", error_description: `Tenant '${domain}' not found.` }, { status: 400 })
