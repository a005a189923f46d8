import { parseSubject } from "../../src/check/address/parse-subject.ts"
import type { SubjectKind } from "../../src/check/address/subject.ts"
import { createCheck, NO_CORRECTIONS, NO_OWN_LIST_MATCH } from "../../src/check/check.ts"
import { OFFLINE_DEEP_PROBE } from "../../src/check/deep-evidence.ts"
import type { DomainLists } from "../../src/check/domain-lookup.ts"
import { offlineNetworkProbe } from "../../src/check/network-evidence.ts"
import { fullResult } from "../../src/check/result/result.ts"
import { POLICY_DEFAULT, type Policy } from "../../src/contract/policies.ts"
import type { CheckResult } from "../../src/contract/result-schema.ts"
import { mailHostsProbe } from "./mail-hosts-probe.ts"
import type { Complaint, Labelled, Sample, Trap, Typo } from "./sample.ts"
import type { Answered } from "./score.ts"

/** Asks the product about one text and gives the result that a caller reads. */
export type Asker = (kind: SubjectKind, text: string) => Promise<CheckResult>

/**
 * What is outside: nothing that can be asked, so that lists alone decide; or DNS in which every name has a mail host of
 * its own, as every name has that receives mail.
 */
export type MailWorld = "lists_alone" | "mail_hosts"

/** The product over lists: the path of every check. */
export function productOver(lists: DomainLists, world: MailWorld, policy: Policy = POLICY_DEFAULT): Asker {
  const check = createCheck({
    activeLists: () => lists,
    networkProbe: world === "mail_hosts" ? mailHostsProbe() : offlineNetworkProbe,
    deepProbe: OFFLINE_DEEP_PROBE,
    corrections: NO_CORRECTIONS,
    clock: () => 0,
    stopwatch: () => 0,
  })
  return async (kind, text) => {
    const subject = parseSubject(kind, text, "mailkind.test")
    const outcome = await check({
      subject,
      policy,
      isDeep: false,
      includeTenant: false,
      ownListMatch: NO_OWN_LIST_MATCH,
    })
    return fullResult(outcome, "req_0123456789abcdefghijkl")
  }
}

/** A typo with the correction that was offered; null: none was. */
type Corrected = Typo & { readonly offered: string | null }

/** A name with the category of its check, and the recommendation under the policy b2b. */
type Judged = Pick<CheckResult, "category" | "recommendation"> & { readonly text: string }

/** What a result answers, by which reason and how surely. */
export const answerOf = ({ category, reasons, confidence }: CheckResult): Omit<Answered, "text" | "label"> => ({
  ...{ answered: category, confidence },
  reason: reasons[0] ?? "no_evidence",
})

/** All that was answered of a part of the sample. */
export type Answers = {
  readonly labelled: readonly Answered[]
  readonly traps: readonly (Answered & Pick<Trap, "mistaken">)[]
  readonly typos: readonly Corrected[]
  /** Domains that must not be corrected, and were. */
  readonly corrected: readonly { readonly text: string; readonly offered: string }[]
  /** Role names that were taken for people's. */
  readonly rolesMissed: readonly string[]
  /** People's names that were taken for a role's. */
  readonly rolesFalse: readonly string[]
  readonly complaints: readonly (Judged & Pick<Complaint, "label">)[]
  readonly openSuffix: readonly Judged[]
}

/** Checks every row of a part. Names that do not exist (`unknown`) never have a mail host. */
export async function answersTo(sample: Sample, lists: DomainLists, world: MailWorld): Promise<Answers> {
  const alone = productOver(lists, "lists_alone")
  const ask = world === "lists_alone" ? alone : productOver(lists, world)
  const answer = async ({ label, requests: { kind, text } }: Labelled) =>
    answerOf(await (label === "unknown" ? alone : ask)(kind, text))
  const offeredFor = async (domain: string) => (await ask("email", `jane@${domain}`)).did_you_mean
  const isRole = async (localPart: string) => (await ask("email", `${localPart}@acme.com`)).is_role_account
  const judged = async ({ text, requests }: Pick<Labelled, "text" | "requests">): Promise<Judged> => {
    const { category, recommendation } = await ask(requests.kind, requests.text)
    return { text, category, recommendation }
  }
  const rolesSeen = await among(sample.roles, isRole)
  const kept = await each(sample.kept, async text => ({ text, offered: await offeredFor(text) }))
  return {
    labelled: await each(sample.labelled, async row => ({ ...row, ...(await answer(row)) })),
    traps: await each(sample.traps, async row => ({ ...row, ...(await answer(row)) })),
    typos: await each(sample.typos, async typo => ({ ...typo, offered: await offeredFor(typo.text) })),
    corrected: kept.flatMap(({ text, offered }) => (offered === null ? [] : [{ text, offered }])),
    rolesMissed: sample.roles.filter(role => !rolesSeen.has(role)),
    rolesFalse: [...(await among(sample.notRoles, isRole))],
    complaints: await each(sample.complaints, async row => ({ ...(await judged(row)), label: row.label })),
    openSuffix: await each(sample.openSuffix, judged),
  }
}

/** Of these names, those that are called disposable where every name has a mail host. */
export async function calledDisposable(names: readonly string[], lists: DomainLists): Promise<readonly string[]> {
  const ask = productOver(lists, "mail_hosts")
  return [...(await among(names, async name => (await ask("email", `jane@${name}`)).is_disposable))]
}

const each = <T, R>(rows: readonly T[], ask: (row: T) => Promise<R>): Promise<readonly R[]> =>
  Promise.all(rows.map(ask))

async function among(rows: readonly string[], holds: (row: string) => Promise<boolean>): Promise<ReadonlySet<string>> {
  const requests = await each(rows, async row => ({ row, isSo: await holds(row) }))
  return new Set(requests.flatMap(({ row, isSo }) => (isSo ? [row] : [])))
}

/** Every text that was answered wrongly, a line each: what it is, the text, and what was answered. Empty: none was. */
export function missLines({ labelled, traps, typos, corrected, rolesMissed, rolesFalse }: Answers): readonly string[] {
  const line = (...cells: readonly string[]): string => cells.join("\t")
  return [
    ...labelled
      .filter(({ label, answered }) => answered !== label)
      .map(({ label, text, answered }) => line(label, text, answered)),
    ...traps
      .filter(({ label, answered }) => answered !== label)
      .map(({ label, text, answered }) => line(`trap ${label}`, text, answered)),
    ...typos
      .filter(({ offered, meant }) => offered !== meant)
      .map(({ text, meant, offered }) => line("typo", text, `${offered ?? "nothing"}, not ${meant}`)),
    ...corrected.map(({ text, offered }) => line("kept", text, offered)),
    ...rolesMissed.map(text => line("role", text, "no role")),
    ...rolesFalse.map(text => line("not a role", text, "a role")),
  ]
}
