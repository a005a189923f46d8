import { DOT_ATOM } from "../../base/local-part.ts"
import { END, HYPHEN, KEPT, loadMailboxRules, type MailboxRule, NO_NAME } from "./mailbox-rules.ts"
import { isAddressTooLong } from "./parse-email.ts"
import type { Subject } from "./subject.ts"

/** The key of a suite that runs mail: both have the same rule. */
export const A_SUITE = "suite_a"

/**
 * The mailbox behind an address: two addresses with the same one reach the same person, by what their provider documents. At a domain of one's
 * own the rules hold of the suite that runs its mail; `operatedBy` is its key, or anything else where no suite is known. Where no
 * rule is known, the address keeps its tag. It parses, and is its own canonical form. It is no address to send mail to.
 *
 * Null: this is no email, has a fault, or the form would be longer than an address may be.
 */
export function canonicalEmail(subject: Subject, operatedBy: string | null): string | null {
  const { fault, domain, mailbox, tagged } = subject
  if (fault !== null || mailbox === null || domain === null) return null
  const rule = ruleOf(subject, operatedBy)
  const whole = tagged === null || rule?.isTagOff === true ? mailbox : tagged
  // Most addresses are their mailbox in normal form, which is no longer than one may be, so nothing is made or measured.
  const isNormal = whole === subject.normalized
  if (isNormal && (rule === null || rule.keepsUntagged)) return whole
  const local = whole.slice(0, -domain.length - 1)
  const [name, host] = rule === null ? [local, domain] : mailboxOf(rule, local, subject)
  if (isNormal && name === local && host === domain) return whole
  const address = `${name}@${host}`
  return isAddressTooLong(name, address) ? null : address
}

/** Whether the mailbox behind an address of its domain depends on who runs the mail there: no provider's rule holds for the domain. */
export const isMailboxOfHost = (subject: Subject): boolean =>
  subject.fault === null && subject.mailbox !== null && ruleOf(subject, null) === null

function ruleOf({ domain, registrable }: Subject, operatedBy: string | null): MailboxRule | null {
  const { byDomain, bySuite } = loadMailboxRules()
  const own = domain === null ? undefined : byDomain.get(domain)
  if (own !== undefined) return own
  const above = registrable === domain || registrable === null ? undefined : byDomain.get(registrable)
  if (above?.hasSubdomains === true) return isOneLabelBelow(domain, registrable) ? above : null
  return (operatedBy === null ? undefined : bySuite.get(operatedBy)) ?? null
}

const isOneLabelBelow = (domain: string | null, parent: string | null): boolean =>
  domain !== null && parent !== null && domain.indexOf(".") === domain.length - parent.length - 1

/** The local part and the domain by which a provider names a mailbox. */
function mailboxOf(
  rule: MailboxRule,
  local: string,
  { domain, registrable }: Subject,
): readonly [local: string, domain: string | null] {
  // What stands before the `@` of a subdomain is no part of the mailbox.
  if (rule.hasSubdomains && domain !== registrable) return [domain?.slice(0, domain.indexOf(".")) ?? local, registrable]
  return [nameOf(rule, local), rule.one ?? domain]
}

/**
 * A local part without what the provider does not read. It is left as it is if what it holds is no plain ASCII name, which is all that
 * providers give, or if nothing would be left of it, or no name.
 */
function nameOf({ reading }: MailboxRule, local: string): string {
  const content = plainContent(local)
  if (reading === null || content === null) return local
  let name = ""
  let from = 0
  for (let index = 0; index < content.length; index++) {
    const read = reading[content.charCodeAt(index)] ?? NO_NAME
    if (read === NO_NAME) return local
    if (read === KEPT || (read === END && index === 0)) continue
    name += content.slice(from, index) + (read === HYPHEN ? "-" : "")
    from = index + 1
    if (read === END) return wholeName(name, local)
  }
  return wholeName(from === 0 ? content : name + content.slice(from), local)
}

/** The dot-atom that a local part is, or that a quoted one is but for a dot at its end, as in `jane.+news` without its tag; null: neither. */
function plainContent(local: string): string | null {
  if (!local.startsWith('"')) return local
  const content = local.slice(1, -1)
  return content.endsWith(".") && DOT_ATOM.test(content.slice(0, -1)) ? content : null
}

const wholeName = (name: string, local: string): string => (name === "" || name.endsWith(".") ? local : name)
