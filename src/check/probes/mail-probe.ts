import type { Budget } from "../../base/budget.ts"
import type { Clock } from "../../base/clock.ts"
import { type Finding, known } from "../../base/finding.ts"
import type { Answer, Ask } from "../dns/question.ts"
import type { Mail } from "../verdict/evidence.ts"
import { textsIn } from "./answer-texts.ts"
import { askWithin } from "./ask-within.ts"
import { dmarcPolicyOf } from "./dmarc.ts"
import type { MailFound } from "./found.ts"
import { freshness } from "./freshness.ts"
import { suitesBehind } from "./hidden-suites.ts"
import { type MailHosts, mailHosts } from "./mail-hosts.ts"
import type { ProviderKind } from "./providers.ts"
import { spfRecord } from "./spf.ts"
import { suitesInSpf } from "./spf-suites.ts"
import { type SuiteEntry, suitesIn } from "./suite-entries.ts"

/** What a mail probe asks, and by which clock. */
export type MailProbeNeeds = { readonly ask: Ask; readonly clock: Clock }

/**
 * Asks DNS what a domain publishes about its mail; `organisational` is the domain whose DMARC policy holds for those
 * below it, which may be the domain itself. Both are lower case A-labels, without a trailing dot. What is found when the
 * budget runs out stands. It never rejects.
 */
export type MailProbe = (domain: string, organisational: string, budget: Budget) => Promise<MailFound>

/** Builds a mail probe. */
export function mailProbe({ ask, clock }: MailProbeNeeds): MailProbe {
  return async (domain, organisational, budget) => {
    const fresh = freshness(clock)
    const within = askWithin(ask, budget)
    const first = fresh.noting(within, FAILED_FOR_MS)
    const found = await askAbout(domain, organisational, first, fresh.noting(within, FAILED_BEHIND_FOR_MS))
    return { ...found, ...fresh.read() }
  }
}

/** How soon a question about the domain itself that had no answer may be put again. */
const FAILED_FOR_MS = 1000

/** The same for what its records lead to: a dead include says little, and must not make a good answer short-lived. */
const FAILED_BEHIND_FOR_MS = 5000

/** What was said of the records at the domain's own name; `aaaa` is null where nobody needed to know. */
type Own = { readonly [Type in "mx" | "txt" | "a"]: Finding<Answer> } & { readonly aaaa: Finding<Answer> | null }

/** The first questions go out side by side; those that their answers lead to follow as soon as these are there. */
async function askAbout(
  domain: string,
  organisational: string,
  ask: Ask,
  follow: Ask,
): Promise<Pick<MailFound, "mail" | "suites">> {
  const mxAsked = ask({ name: domain, type: "MX" })
  const txtAsked = ask({ name: domain, type: "TXT" })
  const spfAsked = txtAsked.then(txt => (txt.known ? known(spfRecord(textsIn(txt.value))) : txt))
  const hostsAsked = mxAsked.then(mx => (mx.known ? known(mailHosts(mx.value.records)) : mx))
  const aAsked = ask({ name: domain, type: "A" })
  // Hardly any domain has neither a mail host nor an IPv4 address: to ask for the other kind only then saves a fifth of all
  // questions, and costs such a domain one more round.
  const aaaaAsked = Promise.all([mxAsked, hostsAsked, aAsked]).then(([mx, hosts, a]) =>
    needsOtherAddress(mx, hosts, a) ? ask({ name: domain, type: "AAAA" }) : null,
  )
  const [mx, txt, a, aaaa, spf, dmarcPolicy, hosts, led] = await Promise.all([
    mxAsked,
    txtAsked,
    aAsked,
    aaaaAsked,
    spfAsked,
    dmarcPolicyOf(ask, domain, organisational),
    hostsAsked,
    Promise.all([hostsAsked, spfAsked]).then(([hosts, spf]) => ledTo(follow, domain, hosts, spf)),
  ])
  if (!hosts.known) return { mail: hosts, suites: hosts }
  const { entries, provider } = hosts.value
  const runBy = hosts.value.runBy ?? led.find(({ shows }) => shows === "other_suite")?.shows ?? null
  return {
    mail: mailIn({ mx, txt, a, aaaa }, { ...hosts.value, runBy }, { spf, dmarcPolicy }),
    suites: known(suitesIn([...entries, ...led], runBy === "other_suite" ? (provider?.key ?? null) : null)),
  }
}

/** Persons' domains name the SPF domain of the vendor whose suite they do not use. */
const OF_PERSONS: readonly ProviderKind[] = ["consumer", "group"]

/** What the records show that the mail hosts and the SPF record lead to. */
async function ledTo(
  follow: Ask,
  domain: string,
  hosts: Finding<MailHosts>,
  spf: Mail["spf"],
): Promise<readonly SuiteEntry[]> {
  if (!hosts.known) return []
  const { provider, runBy } = hosts.value
  const isOfPersons = provider !== null && OF_PERSONS.includes(provider.kind)
  const record = spf.known && !isOfPersons ? spf.value : null
  const shown = await Promise.all([
    record === null ? [] : suitesInSpf(follow, domain, record),
    provider === null || runBy === "disposable" ? [] : suitesBehind(follow, domain, provider),
  ])
  return shown.flat()
}

/** Whether mail and visitors can reach the domain by its IPv6 address alone, if at all. */
function needsOtherAddress(mx: Finding<Answer>, hosts: Finding<MailHosts>, a: Finding<Answer>): boolean {
  if (!hosts.known || hosts.value.takesMail || hosts.value.isNull) return false
  if (a.known && a.value.records.length > 0) return false
  return !(isDenied(mx) && isDenied(a))
}

const isDenied = (asked: Finding<Answer>): boolean => asked.known && asked.value.outcome === "no_name"

function mailIn(
  { mx, txt, a, aaaa }: Own,
  hosts: MailHosts,
  published: Pick<Mail, "spf" | "dmarcPolicy">,
): Finding<Mail> {
  const { takesMail, isNull, mx: listed, provider, runBy } = hosts
  const addresses = aaaa === null ? [a] : [a, aaaa]
  const hasAddress = addresses.some(asked => asked.known && asked.value.records.length > 0)
  const missing = addresses.find(asked => !asked.known)
  // Without a host or a null MX the address decides, and one that was asked for in vain may be there.
  if (!takesMail && !isNull && !hasAddress && missing !== undefined && !missing.known) return missing
  return known({
    // A server that denies the name to one question and not to another is broken; the name is there.
    exists: [mx, txt, ...addresses].some(asked => asked.known && asked.value.outcome !== "no_name"),
    reach: reachOf(hosts, hasAddress),
    hasAddress,
    mx: listed,
    provider: provider?.key ?? null,
    runBy,
    ...published,
  })
}

function reachOf({ takesMail, isNull }: MailHosts, hasAddress: boolean): Mail["reach"] {
  if (takesMail) return "mx"
  if (isNull) return "null_mx"
  return hasAddress ? "implicit" : "none"
}
