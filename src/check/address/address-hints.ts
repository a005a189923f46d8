import { isSameOrSubdomain } from "./public-suffix.ts"
import {
  findMisspeltRole,
  findRoleWithRegion,
  isJoinable,
  misspellingsOf,
  misspeltRolesByLetter,
  type RoleWords,
  variableRoles,
} from "./role-variants.ts"
import { AffixFilter, MAY_HAVE_ROLE, MAY_HAVE_WORD, WordFilter } from "./word-filters.ts"

/** Words that are looked for in local parts. Made by `createAddressWords`. */
export type AddressWords = RoleWords & {
  /** The domains of group services. */
  readonly groupDomains: readonly string[]
  /** Role words, with and without a slip, which match a complete local part. */
  readonly roleFilter: WordFilter
  /** Shared-inbox and group words and regions, which match at the start or the end of a local part. */
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
/** `info2`, `support-01`. A longer number is a year or part of a nickname. */
const TRAILING_SHORT_NUMBER = /(?<!\d)-?\d{1,2}$/

type WordLists = Readonly<
  Record<"role" | "sharedInbox" | "group" | "region" | "personName" | "groupDomains", Iterable<string>>
>

/** Prepares the words, which takes about 20 ms. A word of several parts (`no-reply`) also matches when written as one (`noreply`). */
export function createAddressWords(lists: WordLists): AddressWords {
  const words = {
    role: withJoinedSpellings(lists.role),
    sharedInbox: withJoinedSpellings(lists.sharedInbox),
    group: withJoinedSpellings(lists.group),
    region: new Set(lists.region),
    personName: new Set(lists.personName),
  }
  const variableRole = variableRoles(words.role, words.sharedInbox)
  const misspeltRole = misspeltRolesByLetter(variableRole)
  const misspelt = [...misspeltRole.values()].flat().flatMap(misspellingsOf)
  return {
    ...words,
    variableRole,
    misspeltRole,
    groupDomains: [...lists.groupDomains],
    roleFilter: new WordFilter(new Set([...words.role, ...misspelt])),
    affixFilter: new AffixFilter({
      words: [...words.sharedInbox, ...words.group],
      besideRoles: [...words.region, ...words.sharedInbox, ...words.group],
      joinable: [...variableRole].filter(isJoinable),
    }),
  }
}

/**
 * Reads the hints of a local part (as in `Subject.localPart`) and a domain. `.`, `-` and `_` are equal separators. A role
 * word matches the complete local part, with or without a trailing number of one or two digits, beside regions and other
 * words, or with a slip (`role-variants.ts`). A shared-inbox or group word matches the complete local part, else the longest run of parts at its start, else at its end. An empty local part
 * (the input is not an address) gives no hints.
 */
export function readAddressHints(localPart: string, domain: string, words: AddressWords): AddressHints {
  if (localPart === "") return NO_HINTS
  const groupService = findGroupService(domain, words.groupDomains)
  // Most local parts are names of people; the filters recognise that without splitting them.
  const edges = words.affixFilter.edgesOf(localPart)
  const mayBeRole = words.roleFilter.mayContain(localPart)
  const mayHaveRole = (edges & MAY_HAVE_ROLE) !== 0
  const mayHaveWord = (edges & MAY_HAVE_WORD) !== 0
  if (groupService === null && !mayBeRole && !mayHaveRole && !mayHaveWord) return NO_HINTS
  const name = localPart.replace(SEPARATORS, "-")
  const isRole =
    (mayBeRole && findCompleteRole(name, words) !== null) || (mayHaveRole && findRoleBesideOthers(name, words) !== null)
  const sharedInbox = mayHaveWord ? findEdgeWord(name, words.sharedInbox) : null
  const group = mayHaveWord ? findEdgeWord(name, words.group) : null
  if (!isRole && sharedInbox === null && group === null && groupService === null) return NO_HINTS
  return { isRole, sharedInbox, group, groupService }
}

/** The role word that matches a local part, as spelled in the lists; null: none. */
export function findRoleWord(localPart: string, words: AddressWords): string | null {
  const name = localPart.replace(SEPARATORS, "-")
  return findCompleteRole(name, words) ?? findRoleBesideOthers(name, words)
}

function findCompleteRole(name: string, words: AddressWords): string | null {
  if (words.role.has(name)) return name
  const unnumbered = withoutShortNumber(name)
  return unnumbered !== name && words.role.has(unnumbered) ? unnumbered : findMisspeltRole(unnumbered, words)
}

const findRoleBesideOthers = (name: string, words: AddressWords): string | null =>
  findRoleWithRegion(withoutShortNumber(name), words)

const withoutShortNumber = (name: string): string => name.replace(TRAILING_SHORT_NUMBER, "")

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
