import { kindOf, parseSubject } from "../../src/check/address/parse.ts"
import { checking, NO_CORRECTIONS, NO_STANDING } from "../../src/check/check.ts"
import { NEVER_DEEP } from "../../src/check/deep.ts"
import type { SetName } from "../../src/check/lists/sets.ts"
import { outside } from "../../src/check/outside.ts"
import { fullResult } from "../../src/check/present.ts"
import { identityUrls } from "../../src/check/probes/identity-endpoint.ts"
import { mailProbe } from "../../src/check/probes/mail-probe.ts"
import { TENANT_BOUNDS, tenantProbe } from "../../src/check/probes/tenant-probe.ts"
import type { Policy } from "../../src/contract/policies.ts"
import type { CheckResult } from "../../src/contract/schemas.ts"
import { lists } from "./app.ts"
import { type Ending, identityWeb, type ToldTenant } from "./identity-server.ts"
import { settled, stoppedTime } from "./time.ts"
import { type ZoneRecords, zone } from "./zone.ts"

/** What a golden case says of a domain's outside, in words that fit a line. */
export type ToldDomain = {
  /** What the case is there for. */
  readonly about: string
  readonly input: string
  /** Absent: `b2b`. */
  readonly policy?: Policy
  /** Absent: the tenant is asked for. */
  readonly workspace?: false
  /** The sets that hold the domain. Absent: no list knows the name. */
  readonly listed?: readonly SetName[]
  /** The question is put twice, and the second answer is the result. */
  readonly again?: true
  /**
   * By `TYPE owner`, owners as zone files write them: `@` is the domain, one with a last dot is a whole name, and any
   * other stands below the domain.
   */
  readonly records: ZoneRecords
  /** What the identity endpoints say of the domain. Absent: it has no tenant. */
  readonly identity?: ToldTenant | Ending
}

const BUDGET_MS = 3000
const IDENTITY_URL = "https://login.example"

/** The Subject that a case asks about. */
export const subjectOf = (input: string) => parseSubject(kindOf(input), input, "mailkind.test")

/** What the whole path of a check says of a case: only DNS and the identity endpoints are made up, and time stands still. */
export async function resultOf(told: ToldDomain): Promise<CheckResult> {
  const subject = subjectOf(told.input)
  const { domain } = subject
  if (domain === null) throw new Error(`${told.input} names no domain`)
  const time = stoppedTime()
  const check = checking({
    lists: () => lists,
    outside: outsideOf(told, domain, time),
    deep: NEVER_DEEP,
    corrections: NO_CORRECTIONS,
    clock: time.clock,
    stopwatch: time.stopwatch,
  })
  const { policy = "b2b", workspace = true, again = false, identity } = told
  const ask = async () => {
    const asked = check({ subject, policy, deep: false, workspace, standing: NO_STANDING })
    // DNS has answered long before, so that only what hangs is cut off by the end of the budget.
    for (let turn = 0; identity === "hangs" && turn < 20; turn++) await settled()
    if (identity === "hangs") await time.tick(BUDGET_MS)
    return fullResult(await asked, "req_golden")
  }
  const first = await ask()
  return again ? await ask() : first
}

function outsideOf(
  { records, identity }: ToldDomain,
  domain: string,
  { clock, later }: ReturnType<typeof stoppedTime>,
) {
  const { ask } = zone(absolute(records, domain))
  const { web } = identityWeb(identity === undefined ? {} : { [domain]: identity })
  const mail = mailProbe({ ask, clock })
  const tenant = tenantProbe({ web, urls: identityUrls(IDENTITY_URL), clock, later }, TENANT_BOUNDS)
  return outside({
    mail: (asked, budget) => mail(asked.domain, asked.organisational, budget),
    tenant: (asked, cloud) => tenant.ask(asked.domain, asked.organisational, cloud),
    isAway: () => false,
    clock,
    later,
    budgetMs: BUDGET_MS,
  })
}

function absolute(records: ZoneRecords, domain: string): ZoneRecords {
  const rows = Object.entries(records).map(([key, row]) => {
    const [type = "", owner = ""] = key.split(" ")
    if (owner.endsWith(".")) return [`${type} ${owner.slice(0, -1)}`, row] as const
    return [`${type} ${owner === "@" ? domain : `${owner}.${domain}`}`, row] as const
  })
  return Object.fromEntries(rows)
}
