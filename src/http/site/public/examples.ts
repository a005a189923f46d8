import { type Check, type CheckRequest, NO_OWN_LIST_MATCH, type OwnListMatch } from "../../../check/check.ts"
import { mailProviderName } from "../../../check/mail/mail-providers.ts"
import type { CheckOutcome } from "../../../check/result/result.ts"
import { POLICY_DEFAULT } from "../../../contract/policies.ts"
import { displayedVerdict } from "../displayed-verdict.ts"
import type { SiteContext } from "../site-context.ts"
import { parseTyped, type TypedSubject } from "../typed-subject.ts"
import { formatCount } from "../ui/format.ts"
import type { DisplayedVerdict } from "../ui/verdict/reason-words.ts"
import type { CheckedVerdict } from "../ui/verdict/verdict-card.tsx"
import { CATEGORY_LABELS, verdictHeadline } from "../ui/verdict/verdict-words.ts"

/** The addresses that visitors can check by one click. They cost nothing. */
const EXAMPLES = [
  "jane@stripe.com",
  "sam@gmail.com",
  "mia@mailinator.com",
  "bob@gmial.com",
  "billing@paypa1.com",
  "info@ethz.ch",
] as const

/** In place of the first one until DNS has answered: lists are enough to allow it. */
const LISTED_EXAMPLE = "jane@nasa.gov"

/** A row of the home page's feed: an example with its verdict, and a fact behind it in a few words. */
export type Example = { readonly input: string; readonly verdict: DisplayedVerdict; readonly fact: string }

/** The examples with their verdicts of now. It never rejects and never waits for the network. */
export type Examples = {
  readonly list: () => Promise<readonly Example[]>
  /** Whether a visitor's input is one of them, and therefore free. */
  readonly has: (input: string) => boolean
}

/** What the verdicts are made with. */
export type ExamplesDeps = Pick<
  SiteContext,
  "check" | "listsCheck" | "ownLists" | "testDomain" | "isDnsOff" | "lists" | "baseUrl"
>

/** The request of a free check. */
export const freeCheckRequest = (subject: CheckRequest["subject"], callerId: string): CheckRequest => ({
  ...{ subject, policy: POLICY_DEFAULT, isDeep: false, includeTenant: true, callerId },
  ownListMatch: NO_OWN_LIST_MATCH,
})

/**
 * What the operator's lists say to strangers. It leaves out the block list: only key holders may learn what is on it, since on the home page
 * anybody could try names. Rejects when the lists cannot be read.
 */
export async function publicOwnListMatch(
  { ownLists }: Pick<SiteContext, "ownLists">,
  subject: CheckRequest["subject"],
): Promise<OwnListMatch> {
  if (subject.isTest) return NO_OWN_LIST_MATCH
  const { isOperatorAllowed } = await ownLists.lookup(null, subject)
  return { ...NO_OWN_LIST_MATCH, isOperatorAllowed }
}

/** Makes the verdicts of the examples by the check that visitors use. */
export function createExamples(deps: ExamplesDeps): Examples {
  const outcomes = createOutcomes(deps)
  const exampleOf = async (input: string): Promise<Example> => {
    const verdict = displayedVerdict(deps, await outcomes(input), "example")
    // Without DNS nobody knows who runs the mail of a company.
    if (input === EXAMPLES[0] && verdict.result.degraded) return await exampleOf(LISTED_EXAMPLE)
    return { input, verdict, fact: factOf(verdict) }
  }
  return {
    list: async () => await Promise.all(EXAMPLES.map(exampleOf)),
    has: input => input === LISTED_EXAMPLE || EXAMPLES.some(each => each === input),
  }
}

/** Finds outcomes without waiting for the network: an answer under way counts when it has come, and until then the former one, or the lists. */
function createOutcomes({
  check,
  listsCheck,
  testDomain,
  ...deps
}: ExamplesDeps): (input: string) => Promise<CheckOutcome> {
  const latest = new Map<string, CheckOutcome>()
  const underWay = new Set<string>()
  const ask = (input: string, request: CheckRequest): ReturnType<Check> | null => {
    if (underWay.has(input)) return null
    const outcome = check(request)
    if (!(outcome instanceof Promise)) return outcome
    underWay.add(input)
    const done = (): boolean => underWay.delete(input)
    void outcome.then(found => latest.set(input, found)).then(done, done)
    return null
  }
  return async input => {
    const typed: TypedSubject = parseTyped(input, testDomain)
    if (typed.kind === "refused") throw new Error("an example can be checked")
    const ownListMatch = await publicOwnListMatch(deps, typed.subject).catch(() => NO_OWN_LIST_MATCH)
    const request = { ...freeCheckRequest(typed.subject, "examples"), ownListMatch }
    return ask(input, request) ?? latest.get(input) ?? listsCheck(request)
  }
}

/** What the verdict rests on, in a few words. */
function factOf(verdict: CheckedVerdict): string {
  const { result } = verdict
  const { did_you_mean: suggestion, mail, reasons, category } = result
  if (result.is_lookalike) return verdictHeadline(verdict)
  if (suggestion !== null) return `Typo · did you mean ${suggestion}?`
  const label = CATEGORY_LABELS[category]
  if (category === "disposable") return `${label} · on ${formatCount(verdict.lists?.named ?? 0, "list")}`
  if (reasons.includes("government_suffix")) return `${label} · reserved ending`
  if (category === "personal") return `${label} · free mailbox`
  if (result.shared_inbox.match !== null) return `${label} · shared inbox`
  if (mail.provider !== null) return `${label} · ${mailProviderName(mail.provider)}`
  return mail.has_mx === true ? `${label} · own mail server` : label
}
