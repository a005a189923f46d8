/** The kinds of a word, one bit each: a word of one list may be a word of another. */
export const WORD_KINDS = { role: 1, sharedInbox: 2, group: 4 } as const

/** A word that names a shared inbox or a group address. It may stand beside a role word. */
const SHARED = WORD_KINDS.sharedInbox | WORD_KINDS.group

/** Words that make up names of roles: lower case, NFC, `-` between the parts of a word. */
export type RoleWords = VariableRoles & {
  /** Role, shared-inbox and group words with their kinds (`WORD_KINDS`). No `Map`: of 23 000 words it takes 3.4 MB, and this 0.9. It has no prototype. */
  readonly kinds: Readonly<Record<string, number>>
  /** Countries, languages and cities that may stand beside a role word. */
  readonly region: ReadonlySet<string>
  /** Names of persons that are spelled like a role word with a region. */
  readonly personName: ReadonlySet<string>
}

/** Role words that may be joined with a region. */
type VariableRoles = {
  readonly variableRole: ReadonlySet<string>
  /** The first letters of these words, and the last ones, as numbers: most names have neither, and are not cut at each letter. */
  readonly variableStarts: ReadonlySet<number>
  readonly variableEnds: ReadonlySet<number>
}

/** A shorter role word joined with a region is also the start of names: `hrus`. */
const JOINED_ROLE_LETTERS_MIN = 4

/** With more parts a local part is no name of a role. */
const PARTS_MAX = 6

/** Codes that are written without a separator beside a role word: `salesuk`. Longer regions (`italia`) always may be. */
const JOINED_CODES = new Set(
  `uk us usa eu de fr es it nl be at ch pl se dk no fi ie pt cz hu ro bg gr tr ru ua in cn jp kr sg my au nz ca mx
    br ar cl co za ae uae sa il hk tw th vn nyc`.split(/\s+/),
)

/**
 * Codes that are also endings of names and words (`presseau`, `salesse`): they follow only the role words that companies
 * in every country use.
 */
const ENDING_CODES = new Set("ae ar at au be ca ch co de es ie il in it my no pe ro sa se sg us za".split(" "))
const INTERNATIONAL_ROLES = new Set(
  "admin careers contact info jobs marketing office orders reservations sales service support".split(" "),
)

/** Role words besides the shared inboxes that are joined with regions. */
const OTHER_ROLES = `academy admin administration administrator education engineering events facilities hostmaster
  maintenance management newsletter noreply notifications operations postmaster procurement production projects quality
  receptionist research safety secretary subscribe training unsubscribe webmaster`.split(/\s+/)

/** Words for a part of an organisation, joined before or after a role word: `salesteam`. */
const JOINED_UNITS = new Set(["abteilung", "department", "dept", "desk", "group", "office", "online", "team", "unit"])

/** The role words that may be joined with regions, of those that the lists have. */
export function variableRoles(role: ReadonlySet<string>, sharedInbox: ReadonlySet<string>): VariableRoles {
  const words = [...sharedInbox, ...OTHER_ROLES.filter(word => role.has(word))].filter(
    word => word.length >= JOINED_ROLE_LETTERS_MIN && !word.includes("-"),
  )
  return {
    variableRole: new Set(words),
    variableStarts: new Set(words.map(startOf)),
    variableEnds: new Set(words.map(word => endOf(word))),
  }
}

/** Four letters as a number, without the cost of cutting them out: 0.1 µs a name. Other letters may have the same. */
const lettersFrom = (text: string, at: number): number =>
  text.charCodeAt(at) |
  (text.charCodeAt(at + 1) << 8) |
  (text.charCodeAt(at + 2) << 16) |
  (text.charCodeAt(at + 3) << 24)

const startOf = (word: string): number => lettersFrom(word, 0)
const endOf = (word: string, length = word.length): number => lettersFrom(word, length - JOINED_ROLE_LETTERS_MIN)

/** Regions that are given names, and role words that are family names: `jordan.press` is a person. */
const GIVEN_NAMES = new Set(
  `adelaide alexandria austin brooklyn carolina chad charlotte chelsea dakota dallas darwin florence georgia german
    israel jordan kenya leon lorraine madison milan norman orlando paris phoenix roman santiago savannah sofia sydney
    troy victoria vienna virginia`.split(/\s+/),
)
const FAMILY_NAMES = new Set(["clerk", "mayor", "politi", "post", "press", "provost", "sales"])

/**
 * The role word in a name that no list has: beside regions, numbers and other words for mailboxes (`sales-emea`,
 * `uk-info-2`, `support-team`), or joined with a region or a unit (`salesuk`, `salesteam`). Null: none, or the name is a
 * person's. `name` has `-` between its parts and no short number at its end.
 */
export function findRoleWithRegion(name: string, words: RoleWords): string | null {
  if (name.includes("-")) return findRoleBeside(name.split("-"), words)
  return words.personName.has(name) ? null : findJoinedRole(name, words)
}

/** The longest role word of parts of which the others may stand beside a role. */
function findRoleBeside(parts: readonly string[], words: RoleWords): string | null {
  if (parts.length > PARTS_MAX) return null
  const isBeside = (part: string): boolean =>
    words.region.has(part) || hasKind(part, SHARED, words) || /^\d{1,2}$/.test(part)
  // Lists of roles have codes of countries, too.
  const isRole = (text: string): boolean => hasKind(text, WORD_KINDS.role, words) && !words.region.has(text)
  for (let length = parts.length - 1; length > 0; length--) {
    for (let start = 0; start + length <= parts.length; start++) {
      const role = parts.slice(start, start + length).join("-")
      const others = (): readonly string[] => [...parts.slice(0, start), ...parts.slice(start + length)]
      if (isRole(role) && others().every(isBeside)) return isPerson(parts[0] ?? "", role) ? null : role
    }
  }
  return null
}

/** Whether the word is of one of the kinds. */
export const hasKind = (word: string, kinds: number, words: Pick<RoleWords, "kinds">): boolean =>
  ((words.kinds[word] ?? 0) & kinds) !== 0

/** False: the name, which is so much of a text, neither starts nor ends with a role word that may be joined. */
export const mayBeJoined = (text: string, length: number, { variableStarts, variableEnds }: VariableRoles): boolean =>
  length > JOINED_ROLE_LETTERS_MIN && (variableStarts.has(startOf(text)) || variableEnds.has(endOf(text, length)))

function findJoinedRole(name: string, words: RoleWords): string | null {
  if (!mayBeJoined(name, name.length, words)) return null
  const isJoined = (text: string): boolean =>
    JOINED_UNITS.has(text) || (words.region.has(text) && (text.length > 3 || JOINED_CODES.has(text)))
  for (let middle = 2; middle <= name.length - 2; middle++) {
    const [before, after] = [name.slice(0, middle), name.slice(middle)]
    const isEnding = ENDING_CODES.has(after) && !INTERNATIONAL_ROLES.has(before)
    if (words.variableRole.has(before) && isJoined(after) && !isEnding) return before
    if (words.variableRole.has(after) && isJoined(before)) return isPerson(before, after) ? null : after
  }
  return null
}

/** Whether a given name stands before a role word that is a family name. */
const isPerson = (first: string, role: string): boolean => GIVEN_NAMES.has(first) && FAMILY_NAMES.has(role)
