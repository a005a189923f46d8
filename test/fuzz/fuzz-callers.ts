import { insertSession } from "../../src/customers/sign-in/sessions.ts"
import { openSqlite } from "../../src/customers/store/sqlite-store.ts"
import { type Signer, signer } from "../support/leak-reporter.ts"
import type { TestServer } from "../support/test-server.ts"

/** Emails of the accounts that requests come from. */
const EMAILS = {
  limited: "limited@fuzz.example",
  visitor: "visitor@fuzz.example",
  admin: "admin@fuzz.example",
} as const

/** The email of the administrator of a server that is fuzzed. */
export const ADMIN: string = EMAILS.admin

/** Who asks: what requests may be signed with, and what their paths may name. */
export type Callers = {
  readonly origin: string
  readonly keys: Readonly<Record<"unlimited" | "limited" | "publishable" | "revoked", string>>
  /** Cookies of browsers that are signed in. They are renewed while a run lasts, for it signs out. */
  readonly cookies: () => { readonly visitor: string; readonly admin: string }
  /** Ids that a path may hold. */
  readonly ids: readonly [string, ...string[]]
  readonly reporter: Signer
  readonly renew: () => Promise<void>
}

type Key = { readonly id: string; readonly key: string }

const ORIGIN = "https://pages.example"
const random = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count))

/** Makes accounts, keys, a report and sessions on a server that runs. */
export async function fuzzCallers(victim: TestServer, reporter: Signer): Promise<Callers> {
  const accounts: Record<string, string> = {}
  for (const [name, email] of Object.entries(EMAILS))
    accounts[name] = ((await victim.run("account", "create", email, "--tier", "0")) as { id: string }).id // as documented
  const newKey = async (email: string, ...more: readonly string[]): Promise<Key> =>
    (await victim.run("key", "create", "--account", email, ...more)) as Key // as documented
  const limited = await newKey(EMAILS.limited)
  const publishable = await newKey(EMAILS.limited, "--publishable", "--origin", ORIGIN)
  const revoked = await newKey(EMAILS.limited)
  await victim.run("key", "revoke", revoked.id)
  const visitorKey = await newKey(EMAILS.visitor)
  const body = JSON.stringify({ domain: "reported.example.com", expected_category: "business" })
  const headers = { "Content-Type": "application/json" }
  const reported = await victim.ask("POST /v1/feedback", { key: limited.key, headers, body })
  const report = reported.status === 202 ? String(JSON.parse(reported.body).id) : "fb_none"
  let cookies = { visitor: "", admin: "" }
  const renew = async (): Promise<void> => {
    const store = await openSqlite(victim.database, Date.now)
    const open = async (id: string | undefined): Promise<string> => {
      const opened = await store.transaction(inside =>
        insertSession(inside, random, Date.now(), id ?? "", "Fuzz on Linux"),
      )
      return `mailkind_session=${opened.secret}`
    }
    cookies = { visitor: await open(accounts["visitor"]), admin: await open(accounts["admin"]) }
    await store.close()
  }
  await renew()
  return {
    origin: ORIGIN,
    keys: { unlimited: victim.firstKey, limited: limited.key, publishable: publishable.key, revoked: revoked.key },
    cookies: () => cookies,
    ids: [report, accounts["limited"] ?? "", limited.id, visitorKey.id, "block.txt", "allow.txt", "nobody"],
    reporter,
    renew,
  }
}

/** A reporter of leaks whose keys the fuzzed server is told. */
export const fuzzReporter = (): Signer => signer("fuzz")
