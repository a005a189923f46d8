import { HashFilter } from "../../base/hash-filter.ts"
import { RecurringTextCache } from "../../base/recurring-text-cache.ts"
import { textHash } from "../../base/text.ts"
import { isSameOrSubdomain } from "./public-suffix.ts"
import { findRoleWithRegion, hasKind, mayBeJoined, type RoleWords, variableRoles, WORD_KINDS } from "./role-variants.ts"

/** Words that are looked for in local parts. Made by `createAddressWords`. */
export type AddressWords = RoleWords & {
  /** The domains of group services. */
  readonly groupDomains: readonly string[]
  /** Hashes of all words, and of the first and last parts of words and regions, by `EDGES`. */
  readonly edges: HashFilter
  /** The hints of local parts that have a word and recur: of `info` and `sales` they are asked again and again. */
  readonly recurringHints: RecurringTextCache<AddressHints>
}

/** About how many of them are cached, some 100 bytes each. */
const RECURRING_HINTS = 1_000

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

/** Which hints an address gives, without the words: rules read no more, so that addresses with different words share a verdict. */
export type HintKinds = {
  readonly isRole: boolean
  readonly hasSharedInbox: boolean
  readonly hasGroup: boolean
  readonly hasGroupService: boolean
}

/** The kinds of an address's hints. */
export const hintKindsOf = ({ isRole, sharedInbox, group, groupService }: AddressHints): HintKinds => ({
  isRole,
  hasSharedInbox: sharedInbox !== null,
  hasGroup: group !== null,
  hasGroupService: groupService !== null,
})

/** A number below `HINT_KINDS_COUNT` for each combination of kinds. */
export const hintKindsIndex = ({ isRole, hasSharedInbox, hasGroup, hasGroupService }: HintKinds): number =>
  (isRole ? 1 : 0) + (hasSharedInbox ? 2 : 0) + (hasGroup ? 4 : 0) + (hasGroupService ? 8 : 0)

/** How many combinations of kinds there are. */
export const HINT_KINDS_COUNT = 16

const SEPARATORS = /[._]/g

/** Tells a hash of the first part of a word from those of last parts and of whole words. */
const EDGES = { whole: 0, first: 0x9e3779b1, last: 0x2545f491 } as const
/** With so many times the room, one name in thirty passes that has no word. */
const EDGES_ROOM = 4

type WordLists = Readonly<
  Record<"role" | "sharedInbox" | "group" | "region" | "personName" | "groupDomains", Iterable<string>>
>

/** Prepares the words. A word of several parts (`no-reply`) also matches when written as one (`noreply`). */
export function createAddressWords(lists: WordLists): AddressWords {
  const kinds: Record<string, number> = Object.create(null)
  const add = (words: Iterable<string>, kind: number): void => {
    for (const word of words) kinds[word] = (kinds[word] ?? 0) | kind
  }
  const role = withJoinedSpellings(lists.role)
  const sharedInbox = withJoinedSpellings(lists.sharedInbox)
  add(role, WORD_KINDS.role)
  add(sharedInbox, WORD_KINDS.sharedInbox)
  add(withJoinedSpellings(lists.group), WORD_KINDS.group)
  const region = new Set(lists.region)
  const words = Object.keys(kinds)
  const edges = new HashFilter((words.length * 3 + region.size * 2) * EDGES_ROOM)
  for (const word of words) edges.add(textHash(word) ^ EDGES.whole)
  for (const word of [...words, ...region]) {
    const [before] = word.split("-", 1)
    edges.add(textHash(before ?? "") ^ EDGES.first)
    edges.add(textHash(word, word.lastIndexOf("-") + 1) ^ EDGES.last)
  }
  return {
    kinds,
    region,
    edges,
    recurringHints: new RecurringTextCache(RECURRING_HINTS),
    personName: new Set(lists.personName),
    ...variableRoles(role, sharedInbox),
    groupDomains: [...lists.groupDomains],
  }
}

/**
 * Reads the hints of a local part (as in `Subject.localPart`) and a domain. `.`, `-` and `_` are equal separators. A role
 * word matches the complete local part, with or without a trailing number of one or two digits, or beside regions and other
 * words (`role-variants.ts`). A shared-inbox or group word matches the complete local part, else the longest run of parts at
 * its start, else at its end. An empty local part (the input is not an address) gives no hints. `address`: a text that begins with the
 * local part, so that the runtime has to make that only where it may have a word; null: none is at hand.
 */
export function readAddressHints(
  localPart: string,
  domain: string,
  words: AddressWords,
  address: string | null = null,
): AddressHints {
  if (localPart.length === 0) return NO_HINTS
  const groupService = findGroupService(domain, words.groupDomains)
  if (groupService === null && !mayHaveWord(address ?? localPart, localPart.length, words)) return NO_HINTS
  if (groupService !== null) return { ...(hintsOfWords(localPart, words) ?? NO_HINTS), groupService }
  const known = words.recurringHints.get(localPart)
  if (known !== undefined) return known
  const hints = hintsOfWords(localPart, words)
  if (hints !== null) words.recurringHints.offer(localPart, hints)
  return hints ?? NO_HINTS
}

/** What the words of a local part suggest; null: it has none. */
function hintsOfWords(localPart: string, words: AddressWords): AddressHints | null {
  const name = localPart.replace(SEPARATORS, "-")
  const isRole = findRole(name, words) !== null
  const sharedInbox = findEdgeWord(name, words, WORD_KINDS.sharedInbox)
  const group = findEdgeWord(name, words, WORD_KINDS.group)
  return isRole || sharedInbox !== null || group !== null ? { isRole, sharedInbox, group, groupService: null } : null
}

/**
 * False: the local part, which is so much of a text, has no word. Three in four are names of people, which cost 1 µs more when they are
 * cut at each separator.
 */
function mayHaveWord(text: string, length: number, words: AddressWords): boolean {
  if (mayBeginOrEndWithWord(text, length, words)) return true
  const unnumbered = unnumberedLength(text, length)
  return unnumbered < length && mayBeginOrEndWithWord(text, unnumbered, words)
}

function mayBeginOrEndWithWord(text: string, length: number, words: AddressWords): boolean {
  let end = 0
  while (end < length && !isSeparatorCode(text.charCodeAt(end))) end++
  const hash = textHash(text, 0, end)
  if (end === length) return words.edges.mayHave(hash ^ EDGES.whole) || mayBeJoined(text, length, words)
  if (words.edges.mayHave(hash ^ EDGES.first)) return true
  let start = length
  while (!isSeparatorCode(text.charCodeAt(start - 1))) start--
  return words.edges.mayHave(textHash(text, start, length) ^ EDGES.last)
}

const isSeparatorCode = (code: number): boolean => code === 45 || code === 46 || code === 95

const isDigitCode = (code: number): boolean => code >= 48 && code <= 57

/** The role word that matches a local part, as spelled in the lists; null: none. */
export const findRoleWord = (localPart: string, words: AddressWords): string | null =>
  findRole(localPart.replace(SEPARATORS, "-"), words)

function findRole(name: string, words: AddressWords): string | null {
  const isRole = (word: string): boolean => hasKind(word, WORD_KINDS.role, words)
  if (isRole(name)) return name
  const unnumbered = withoutShortNumber(name)
  return unnumbered !== name && isRole(unnumbered) ? unnumbered : findRoleWithRegion(unnumbered, words)
}

const withoutShortNumber = (name: string): string => name.slice(0, unnumberedLength(name, name.length))

/** The length without a number of one or two digits at the end, and a separator before it: `info2`, `support-01`. A longer number is a year or part of a nickname. */
function unnumberedLength(name: string, length: number): number {
  let end = length
  while (end > 0 && isDigitCode(name.charCodeAt(end - 1))) end--
  const digits = length - end
  if (digits === 0 || digits > 2) return length
  return end > 0 && isSeparatorCode(name.charCodeAt(end - 1)) ? end - 1 : end
}

const withJoinedSpellings = (words: Iterable<string>): ReadonlySet<string> =>
  new Set([...words].flatMap(word => (word.includes("-") ? [word, word.replaceAll("-", "")] : [word])))

/** The word of a kind that equals the name, or its longest start, or else its longest end. */
function findEdgeWord(name: string, words: AddressWords, kind: number): string | null {
  const isWord = (text: string): boolean => hasKind(text, kind, words)
  if (isWord(name)) return name
  for (let end = name.lastIndexOf("-"); end > 0; end = name.lastIndexOf("-", end - 1)) {
    const start = name.slice(0, end)
    if (isWord(start)) return start
  }
  for (let cut = name.indexOf("-"); cut >= 0; cut = name.indexOf("-", cut + 1)) {
    const rest = name.slice(cut + 1)
    if (isWord(rest)) return rest
  }
  return null
}

function findGroupService(domain: string, groupDomains: readonly string[]): string | null {
  for (const groupDomain of groupDomains) if (isSameOrSubdomain(domain, groupDomain)) return groupDomain
  return null
}
