import { parseSubject } from "../src/check/address/parse.ts"
import type { SubjectKind } from "../src/check/address/subject.ts"
import { checking, NO_CORRECTIONS, NO_STANDING } from "../src/check/check.ts"
import { NEVER_DEEP } from "../src/check/deep.ts"
import type { Lists } from "../src/check/lists.ts"
import { offline } from "../src/check/outside.ts"
import { fullResult } from "../src/check/present.ts"
import type { CheckResult } from "../src/contract/schemas.ts"
import type { Labelled, Sample, Trap, Typo } from "./accuracy-sample.ts"
import type { Answered } from "./accuracy-score.ts"

/** Asks the product about one text and gives the result that a caller reads. */
export type Asker = (kind: SubjectKind, text: string) => Promise<CheckResult>

/** The product over lists alone: the path of every check, with an outside world that is never asked. */
export function productOver(lists: Lists): Asker {
  const check = checking({
    lists: () => lists,
    outside: offline,
    deep: NEVER_DEEP,
    corrections: NO_CORRECTIONS,
    clock: () => 0,
    stopwatch: () => 0,
  })
  return async (kind, text) => {
    const subject = parseSubject(kind, text, "mailkind.test")
    const outcome = await check({ subject, policy: "b2b", deep: false, workspace: false, standing: NO_STANDING })
    return fullResult(outcome, "req_0123456789abcdefghijkl")
  }
}

/** A typo with the correction that was offered; null: none was. */
export type Corrected = Typo & { readonly offered: string | null }

/** All that was answered of the sample. */
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
}

/** Asks about every row of the sample. */
export async function answersTo(sample: Sample, ask: Asker): Promise<Answers> {
  const categoryOf = async ({ asked }: Labelled) => (await ask(asked.kind, asked.text)).category
  const offeredFor = async (domain: string) => (await ask("email", `jane@${domain}`)).did_you_mean
  const isRole = async (localPart: string) => (await ask("email", `${localPart}@acme.com`)).is_role_account
  const rolesSeen = await among(sample.roles, isRole)
  const kept = await each(sample.kept, async text => ({ text, offered: await offeredFor(text) }))
  return {
    labelled: await each(sample.labelled, async row => ({ ...row, answered: await categoryOf(row) })),
    traps: await each(sample.traps, async row => ({ ...row, answered: await categoryOf(row) })),
    typos: await each(sample.typos, async typo => ({ ...typo, offered: await offeredFor(typo.text) })),
    corrected: kept.flatMap(({ text, offered }) => (offered === null ? [] : [{ text, offered }])),
    rolesMissed: sample.roles.filter(role => !rolesSeen.has(role)),
    rolesFalse: [...(await among(sample.notRoles, isRole))],
  }
}

const each = <T, R>(rows: readonly T[], ask: (row: T) => Promise<R>): Promise<readonly R[]> =>
  Promise.all(rows.map(ask))

async function among(rows: readonly string[], holds: (row: string) => Promise<boolean>): Promise<ReadonlySet<string>> {
  const asked = await each(rows, async row => ({ row, isSo: await holds(row) }))
  return new Set(asked.flatMap(({ row, isSo }) => (isSo ? [row] : [])))
}
