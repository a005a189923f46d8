import { detectSubjectKind, parseSubject } from "../../src/check/address/parse-subject.ts"
import { createCheck, NO_CORRECTIONS, NO_OWN_LIST_MATCH } from "../../src/check/check.ts"
import { OFFLINE_DEEP_PROBE } from "../../src/check/deep-evidence.ts"
import type { SetName } from "../../src/check/lists/sets.ts"
import { createMailProbe } from "../../src/check/mail/mail-probe.ts"
import { createNetworkProbe } from "../../src/check/network-evidence.ts"
import { fullResult } from "../../src/check/result/result.ts"
import { identityUrls } from "../../src/check/tenant/identity-endpoint.ts"
import { TENANT_PROBE_BOUNDS, TenantProbe } from "../../src/check/tenant/tenant-probe.ts"
import type { Policy } from "../../src/contract/policies.ts"
import type { CheckResult } from "../../src/contract/result-schema.ts"
import { lists } from "./app.ts"
import { type Ending, type FakeTenant, identityWeb } from "./identity-server.ts"
import { createFakeTime, settled } from "./time.ts"
import { asking, type ZoneRecords, zone } from "./zone.ts"

/** What a golden case says of a domain's outside, in words that fit a line. */
export type DomainCase = {
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
  readonly identity?: FakeTenant | Ending
}

const BUDGET_MS = 3000
const IDENTITY_URL = "https://login.example"

/** The Subject that a case asks about. */
export const subjectOf = (input: string) => parseSubject(detectSubjectKind(input), input, "mailkind.test")

/** What the whole path of a check says of a case: only DNS and the identity endpoints are made up, and time stands still. */
export async function resultOf(facts: DomainCase): Promise<CheckResult> {
  const subject = subjectOf(facts.input)
  const { domain } = subject
  if (domain === null) throw new Error(`${facts.input} names no domain`)
  const time = createFakeTime()
  const check = createCheck({
    activeLists: () => lists,
    networkProbe: outsideOf(facts, domain, time),
    deepProbe: OFFLINE_DEEP_PROBE,
    corrections: NO_CORRECTIONS,
    clock: time.clock,
    stopwatch: time.stopwatch,
  })
  const { policy = "b2b", workspace: includeTenant = true, again = false, identity } = facts
  const ask = async () => {
    const query = check({ subject, policy, isDeep: false, includeTenant, ownListMatch: NO_OWN_LIST_MATCH })
    // DNS has answered long before, so that only what hangs is cut off by the end of the budget.
    for (let turn = 0; identity === "hangs" && turn < 20; turn++) await settled()
    if (identity === "hangs") await time.tick(BUDGET_MS)
    return fullResult(await query, "req_golden")
  }
  const first = await ask()
  return again ? await ask() : first
}

function outsideOf(
  { records, identity }: DomainCase,
  domain: string,
  { clock, later: setTimer }: ReturnType<typeof createFakeTime>,
) {
  const { ask: resolver } = zone(absolute(records, domain))
  const { web: fetchUrl } = identityWeb(identity === undefined ? {} : { [domain]: identity })
  const mail = createMailProbe({ ask: asking(resolver), clock })
  const tenant = new TenantProbe({ fetchUrl, urls: identityUrls(IDENTITY_URL), clock, setTimer }, TENANT_PROBE_BOUNDS)
  return createNetworkProbe({
    probeMail: (question, budget) => mail(question.domain, question.organisationalDomain, budget, question.asked),
    probeTenant: (requests, cloud) => tenant.lookup(requests.domain, requests.organisationalDomain, cloud),
    isUnavailable: () => false,
    clock,
    setTimer,
    timeoutMs: BUDGET_MS,
    nextTick: queueMicrotask,
    queryTimeoutMs: BUDGET_MS / 2,
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
