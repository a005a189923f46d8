import { describe, expect, test } from "bun:test"
import { NO_HINTS } from "../../../../src/check/address/address-hints.ts"
import { detectSubjectKind, parseSubject } from "../../../../src/check/address/parse-subject.ts"
import { fullResult, judgeDomain } from "../../../../src/check/result/result.ts"
import { CATEGORY_NAMES } from "../../../../src/contract/categories.ts"
import { POLICY_NAMES, type Policy, RECOMMENDATIONS } from "../../../../src/contract/policies.ts"
import { REASON_NAMES, type Reason } from "../../../../src/contract/reasons.ts"
import type { CheckResult } from "../../../../src/contract/result-schema.ts"
import { TEST_ADDRESSES } from "../../../../src/contract/test-addresses.ts"
import { exampleResult } from "../../../../src/http/response/example-responses.ts"
import {
  type DisplayedVerdict,
  displayedDomain,
  REASON_WORDS,
} from "../../../../src/http/site/ui/verdict/reason-words.ts"
import {
  CATEGORY_LABELS,
  sureness,
  verdictHeadline,
  verdictMeaning,
  verdictSentences,
} from "../../../../src/http/site/ui/verdict/verdict-words.ts"
import { VERDICT_CASES } from "../../../golden/verdict-cases.ts"
import { evidenceOf, type Told } from "../../../support/evidence.ts"

/** The verdict of a golden case, as a page displays it. */
function verdictOf(told: Told, policy: Policy = "b2b"): DisplayedVerdict {
  const subject = parseSubject(detectSubjectKind(told.input), told.input, "mailkind.test")
  const judged = judgeDomain(subject, evidenceOf(told), policy)
  const hints = { ...NO_HINTS, ...told.hints }
  const result = fullResult({ subject, hints, judged, tookMs: 0, wasFetched: false }, "req_x")
  return { result, imitates: told.lookalikeOf ?? null, isDnsOff: false }
}

const NO_NAME = { exists: false, delivery: "none", hasAddress: false, mx: [], spf: null, dmarcPolicy: null } as const

const textsOf = (verdict: DisplayedVerdict): readonly string[] => verdictSentences(verdict).map(({ text }) => text)

const everyVerdict = [
  ...VERDICT_CASES.flatMap(told => POLICY_NAMES.map(policy => verdictOf(told, policy))),
  ...Object.keys(TEST_ADDRESSES).flatMap(localPart =>
    POLICY_NAMES.map(policy => ({
      result: exampleResult(localPart, "mailkind.test", policy),
      imitates: null,
      isDnsOff: false,
    })),
  ),
]

/** What a card says of each verdict that breaks a rule. */
const broken = (isBroken: (verdict: DisplayedVerdict) => boolean): readonly string[] =>
  everyVerdict.filter(isBroken).map(verdict => `${verdict.result.reasons.join()}: ${verdictMeaning(verdict)}`)

const ACCEPTS = /\baccepts?( it| unknown)|is accepted/
const REFUSES = /[Dd]o not accept|block it\b|instead\.$|Check the spelling|Ask whether/

describe("meaning, lines and recommendation agree", () => {
  test("only what is recommended is called acceptable, and only what is blocked is refused", () => {
    const saysYes = (verdict: DisplayedVerdict) =>
      ACCEPTS.test(verdictMeaning(verdict).replaceAll(/do not accept it|before you accept it/gi, ""))
    expect(broken(verdict => saysYes(verdict) !== (verdict.result.recommendation === "allow"))).toEqual([])
    expect(broken(v => v.result.recommendation === "block" && !REFUSES.test(verdictMeaning(v)))).toEqual([])
    expect(broken(v => v.result.recommendation === "allow" && REFUSES.test(verdictMeaning(v)))).toEqual([])
  })

  test("whatever is blocked has a line against it", () => {
    const hasBad = (verdict: DisplayedVerdict) => verdictSentences(verdict).some(({ mark }) => mark === "bad")
    expect(broken(verdict => verdict.result.recommendation === "block" && !hasBad(verdict))).toEqual([])
  })

  test("what is blocked has no line in its favour that only fills the card", () => {
    const isPraised = (verdict: DisplayedVerdict) =>
      verdict.result.recommendation === "block" &&
      verdictSentences(verdict).some(
        ({ mark, text }) => mark === "good" && /forged|hosted|mail server|no list/.test(text),
      )
    expect(broken(isPraised)).toEqual([])
  })

  test("a name that no email reaches is never simply accepted", () => {
    const isDead = ({ result }: DisplayedVerdict) =>
      result.reasons.some(reason => ["domain_not_found", "null_mx", "no_mail_host"].includes(reason))
    expect(broken(verdict => isDead(verdict) && verdictMeaning(verdict).includes("You can accept it"))).toEqual([])
  })

  test("a school's name that does not exist leads with what is known of it, and says what is wrong", () => {
    const told: Told = { input: "x@nosuch-college.edu", sets: ["education_suffix"], mail: NO_NAME }
    expect(verdictMeaning(verdictOf(told))).toBe(
      "Its ending is for schools, but this domain does not exist. Check the spelling, or ask for another address.",
    )
    expect(verdictMeaning(verdictOf({ ...told, sets: ["education"] }, "strict"))).toBe(
      "A known school or university, but this domain does not exist. Do not accept it.",
    )
    expect(verdictMeaning(verdictOf({ ...told, sets: ["personal"] }, "lenient"))).toBe(
      "A provider of personal mailboxes, but this domain does not exist. Your lenient policy accepts it, but your email will not arrive.",
    )
    expect(verdictSentences(verdictOf(told))).toEqual([
      {
        mark: "info",
        text: "Its domain ending is reserved for schools and universities, so it is reviewed, not blocked.",
      },
    ])
    expect(verdictSentences(verdictOf({ ...told, sets: ["disposable"] }))).toEqual([
      { mark: "bad", text: "It is on our list of disposable domains." },
      { mark: "bad", text: "The domain does not exist." },
    ])
  })

  test("what a reason changed is said with the reason", () => {
    expect(verdictMeaning(verdictOf({ input: "jane@acme.com", mail: {}, ageDays: 3 }))).toEndWith(
      "It is new, so confirm it by email before you trust it.",
    )
    expect(verdictMeaning(verdictOf({ input: "jane@acme.com", mail: {}, blockedBy: "account" }))).toEndWith(
      "It is on a block list, so do not accept it.",
    )
    expect(textsOf(verdictOf({ input: "jane@gmail.com", sets: ["personal"], mail: {} }))).toContain(
      "Your b2b policy reviews personal mailboxes.",
    )
    expect(textsOf(verdictOf({ input: "jane@gmail.com", sets: ["personal"], mail: {} }, "strict"))).toContain(
      "Your strict policy blocks personal mailboxes.",
    )
  })

  test("a rule of the account is named with what it does", () => {
    const verdict = verdictOf({ input: "jane@gmail.com", sets: ["personal"], mail: {}, ruledAs: "block" })
    expect(textsOf({ ...verdict, rule: "personal" })).toContain("Your rule for personal addresses blocks it.")
    expect(verdictMeaning(verdict)).toEndWith("Your rules block it.")
  })
})

describe("lines", () => {
  /** Of a shared inbox that is a role's one line tells both, and no line of one that gets no email. Of a disposable name the headline tells the typo. */
  const TELLS_TOO: { readonly [R in Reason]?: RegExp } = {
    likely_typo: /on our list of disposable domains|call it disposable/,
    role_account: /^This is a role address/,
    shared_inbox_name: /cannot receive email|does not exist|accepts no email/,
  }
  const TELLING: readonly Reason[] = ["role_account", "shared_inbox_name", "group_name", "likely_typo", "new_domain"]

  test("filler never pushes out a role, a shared inbox, a typo or a new domain", () => {
    const isPushedOut = (verdict: DisplayedVerdict) =>
      verdict.result.category !== "invalid" &&
      TELLING.some(
        reason =>
          verdict.result.reasons.includes(reason) &&
          !textsOf(verdict).some(text => text === REASON_WORDS[reason][2](verdict) || TELLS_TOO[reason]?.test(text)),
      )
    expect(broken(isPushedOut)).toEqual([])
    const everything: Told = {
      input: "support+a@acme.com",
      mail: { spf: null, dmarcPolicy: null },
      suggestion: "acme.org",
      ageDays: 2,
      homepage: "none",
      hints: { isRole: true, sharedInbox: "support" },
    }
    expect(textsOf(verdictOf(everything))).toEqual([
      "It looks like a misspelling of acme.org.",
      "It was registered 2 days ago.",
      "The address has a +tag.",
      "This is a role address (“support”) that several people may read.",
    ])
  })

  test.each(REASON_NAMES)("%s is one short sentence with a mark", reason => {
    const result: CheckResult = { ...exampleResult("business", "mailkind.test"), reasons: [reason] }
    const [mark, , sentence] = REASON_WORDS[reason]
    const text = sentence({ result, imitates: "paypal.com", isDnsOff: false })
    expect(["good", "bad", "info"]).toContain(mark)
    expect(text).toMatch(/^[\w“].*\.$/)
    expect(text.split(" ").length).toBeLessThanOrEqual(16)
    expect(text.match(/[.!?](?= )/g)).toBeNull()
  })

  test("no line is told twice, and there is always one", () => {
    expect(broken(verdict => new Set(textsOf(verdict)).size !== textsOf(verdict).length)).toEqual([])
    expect(broken(verdict => textsOf(verdict).length === 0)).toEqual([])
  })

  test("a part before the @ that is too long names its own limit, and so do the address and the domain", () => {
    const line = (input: string) => textsOf(verdictOf({ input }))
    expect(line(`${"a".repeat(65)}@acme.com`)).toEqual(["The part before the @ is longer than 64 characters."])
    expect(line(`${"ä".repeat(33)}@acme.com`)).toEqual(["The part before the @ is longer than 64 bytes."])
    const domain = `${"a.".repeat(110)}com`
    expect(line(`${"a".repeat(60)}@${domain}`)).toEqual(["The address is longer than 254 characters."])
    expect(line(`${"a.".repeat(127)}com`)).toEqual(["The domain is longer than 253 characters."])
  })

  test("names are in the letters of their language, and an imitation in those that tell it from the known name", () => {
    const result = { ...exampleResult("business", "mailkind.test"), domain: "xn--bcher-kva.de" }
    expect(displayedDomain(result)).toBe("bücher.de")
    expect(displayedDomain({ ...result, is_lookalike: true })).toBe("xn--bcher-kva.de")
    expect(textsOf(verdictOf({ input: "jane@acme.bücher" }))).toEqual(["“.bücher” is not a top-level domain."])
  })
})

test("a look-alike has a headline of its own, and it is the imitation that is certain", () => {
  const verdict = verdictOf({ input: "jane@paypa1.com", mail: {}, lookalikeOf: "paypal.com" })
  expect(verdictHeadline(verdict)).toBe("Look-alike of paypal.com")
  expect(verdictMeaning(verdict)).toContain("We are sure of the imitation, not of who owns it.")
  expect(sureness(verdict)).toEqual({ of: "imitation", label: "Certain", share: 1 })
  expect(textsOf(verdict)).toContain("It differs from paypal.com in one character.")
  expect(textsOf({ ...verdict, imitates: "paypal.org" })).toContain("Its name looks like paypal.org.")
})

test("sureness is a percentage, or Certain, and of an unknown no figure", () => {
  const label = (told: Told) => sureness(verdictOf(told))?.label
  expect(label({ input: "jane@acme.com", mail: {} })).toBe("85%")
  expect(label({ input: "jane@@acme.com" })).toBe("Certain")
  expect(label({ input: "acme.com", mail: "unavailable" })).toBe("Too little to tell")
  expect(everyVerdict.map(verdict => sureness(verdict)?.label)).not.toContain("100%")
})

test("every category has a headline of its own", () => {
  expect(new Set(CATEGORY_NAMES.map(name => CATEGORY_LABELS[name])).size).toBe(CATEGORY_NAMES.length)
})

test("each recommendation and each category is among the cards that were read", () => {
  expect(new Set(everyVerdict.map(({ result }) => result.recommendation)).size).toBe(RECOMMENDATIONS.length)
  expect(new Set(everyVerdict.map(({ result }) => result.category)).size).toBe(CATEGORY_NAMES.length)
})
