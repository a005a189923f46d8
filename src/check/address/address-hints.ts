import { isSameOrSubdomain } from "./public-suffix.ts"
import { AffixFilter, WordFilter } from "./word-filters.ts"

/** Words that are looked for in local parts: lower case, NFC, `-` between the parts of a word. Made by `createAddressWords`. */
export type AddressWords = {
  readonly role: ReadonlySet<string>
  readonly sharedInbox: ReadonlySet<string>
  readonly group: ReadonlySet<string>
  /** The domains of group services. */
  readonly groupDomains: readonly string[]
  /** Role words, which match a complete local part. */
  readonly roleFilter: WordFilter
  /** Shared-inbox and group words, which match at the start or the end of a local part. */
  readonly affixFilter: AffixFilter
}

/** What an address suggests about who reads its mail. These are hints, not proof. */
export type AddressHints = {
  /** Whether the local part names a role and not a person. */
  readonly isRole: boolean
  /** The matched word for a mailbox that several people answer; null: none. */
  readonly sharedInbox: string | null
  /** The matched word for a group that forwards to its members; null: none. */
  readonly group: string | null
  /** The domain of the group service that hosts the address; null: none. */
  readonly groupService: string | null
}

/** No hints. Always the same object, so callers can compare by identity. */
export const NO_HINTS: AddressHints = { isRole: false, sharedInbox: null, group: null, groupService: null }

const SEPARATORS = /[._]/g
/** `info2`, `support-01`. A longer number is a year or part of a nickname. */
const TRAILING_SHORT_NUMBER = /-?\d{1,2}$/

/** Prepares the words for lookups. A word of several parts (`no-reply`) also matches when written as one (`noreply`). */
export function createAddressWords(
  lists: Readonly<Record<"role" | "sharedInbox" | "group" | "groupDomains", Iterable<string>>>,
): AddressWords {
  const words = {
    role: withJoinedSpellings(lists.role),
    sharedInbox: withJoinedSpellings(lists.sharedInbox),
    group: withJoinedSpellings(lists.group),
  }
  const affixFilter = new AffixFilter([...words.sharedInbox, ...words.group])
  return { ...words, groupDomains: [...lists.groupDomains], roleFilter: new WordFilter(words.role), affixFilter }
}

/**
 * Reads the hints of a local part (as in `Subject.localPart`) and a domain. `.`, `-` and `_` are equal separators. A role
 * word matches the complete local part, with or without a trailing number of one or two digits. A shared-inbox or group
 * word matches the complete local part, else the longest run of parts at its start, else at its end. An empty local part
 * (the input is not an address) gives no hints.
 */
export function readAddressHints(localPart: string, domain: string, words: AddressWords): AddressHints {
  if (localPart === "") return NO_HINTS
  const groupService = findGroupService(domain, words.groupDomains)
  // Most local parts are names of people; the filters recognise that without splitting them.
  const mayBeRole = words.roleFilter.mayContain(localPart)
  const mayHaveWord = words.affixFilter.mayMatch(localPart)
  if (groupService === null && !mayBeRole && !mayHaveWord) return NO_HINTS
  const name = localPart.replace(SEPARATORS, "-")
  const isRole = mayBeRole && findRole(name, words) !== null
  const sharedInbox = mayHaveWord ? findEdgeWord(name, words.sharedInbox) : null
  const group = mayHaveWord ? findEdgeWord(name, words.group) : null
  if (!isRole && sharedInbox === null && group === null && groupService === null) return NO_HINTS
  return { isRole, sharedInbox, group, groupService }
}

/** The role word that matches a local part, as spelled in the lists; null: none. */
export const findRoleWord = (localPart: string, words: AddressWords): string | null =>
  findRole(localPart.replace(SEPARATORS, "-"), words)

function findRole(name: string, { role }: AddressWords): string | null {
  if (role.has(name)) return name
  const unnumbered = name.replace(TRAILING_SHORT_NUMBER, "")
  return role.has(unnumbered) ? unnumbered : null
}

function withJoinedSpellings(words: Iterable<string>): ReadonlySet<string> {
  return new Set([...words].flatMap(word => (word.includes("-") ? [word, word.replaceAll("-", "")] : [word])))
}

/** The word that equals the name, or its longest start, or else its longest end. */
function findEdgeWord(name: string, words: ReadonlySet<string>): string | null {
  if (words.has(name)) return name
  for (let end = name.lastIndexOf("-"); end > 0; end = name.lastIndexOf("-", end - 1)) {
    const start = name.slice(0, end)
    if (words.has(start)) return start
  }
  for (let cut = name.indexOf("-"); cut >= 0; cut = name.indexOf("-", cut + 1)) {
    const rest = name.slice(cut + 1)
    if (words.has(rest)) return rest
  }
  return null
}

function findGroupService(domain: string, groupDomains: readonly string[]): string | null {
  for (const groupDomain of groupDomains) if (isSameOrSubdomain(domain, groupDomain)) return groupDomain
  return null
}
