import { isSameOrSubdomain } from "./public-suffix.ts"
import { AffixFilter, WordFilter } from "./word-filters.ts"

/** The words that names are read by: lower case, NFC, `-` between the parts of one word. Made by `createAddressWords`. */
export type AddressWords = {
  readonly role: ReadonlySet<string>
  readonly sharedInbox: ReadonlySet<string>
  readonly group: ReadonlySet<string>
  /** The fixed domains of group services. */
  readonly groupDomains: readonly string[]
  /** The roles, which are whole names. */
  readonly roleFilter: WordFilter
  /** The others, which stand at the edges of names. */
  readonly affixFilter: AffixFilter
}

/** What the name of an address says about who reads it. Never proof. */
export type AddressHints = {
  /** The name is that of a role, not of a person. */
  readonly isRole: boolean
  /** The word of a mailbox that several people answer; null: none. */
  readonly sharedInbox: string | null
  /** The word of a group that forwards to its members; null: none. */
  readonly group: string | null
  /** The fixed domain of the group service that the address stands at; null: none. */
  readonly groupService: string | null
}

/** The hints of a name that says nothing; always the same object. */
export const NO_HINTS: AddressHints = { isRole: false, sharedInbox: null, group: null, groupService: null }

const SEPARATORS = /[._]/g
/** `info2`, `support-01`. A longer number is a year or part of a nickname. */
const TRAILING_SHORT_NUMBER = /-?\d{1,2}$/

/** The words, ready to be looked up. A word of several parts (`no-reply`) also counts written in one (`noreply`). */
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
 * Reads the hints from a local part as in `Subject.localPart` and a domain (decisions §3, §5). `.`, `-` and `_` are the
 * same between the parts of a word. A role name is the whole local part, or all of it but a number of one or two digits;
 * a word of a shared inbox or a group is the whole local part, or the longest run of tokens at its start, or else at its
 * end. An empty local part, for what is no address, gives no hints.
 */
export function readAddressHints(localPart: string, domain: string, words: AddressWords): AddressHints {
  if (localPart === "") return NO_HINTS
  const groupService = findGroupService(domain, words.groupDomains)
  // Most names are people's, which is seen without cutting them.
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

/** The role that a local part names, as a word of the lists; null: it names none. */
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
  for (const fixed of groupDomains) if (isSameOrSubdomain(domain, fixed)) return fixed
  return null
}
