/** Words that make up names of roles: lower case, NFC, `-` between the parts of a word. */
export type RoleWords = {
  readonly role: ReadonlySet<string>
  readonly sharedInbox: ReadonlySet<string>
  readonly group: ReadonlySet<string>
  /** Countries, languages and cities that may stand beside a role word. */
  readonly region: ReadonlySet<string>
  /** Names of persons that are spelled like a role word with a region or a slip. */
  readonly personName: ReadonlySet<string>
  /** Role words that may be joined with a region. */
  readonly variableRole: ReadonlySet<string>
  /** Role words that may have a slip, by their first letter. */
  readonly misspeltRole: ReadonlyMap<string, readonly string[]>
}

/** A shorter role word joined with a region is also the start of names: `hrus`. */
const JOINED_ROLE_LETTERS_MIN = 4

/** With more parts a local part is no name of a role. */
const PARTS_MAX = 6

/** A slip in a shorter word makes another word or a name. */
const MISSPELT_LETTERS_MIN = 7

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

/** Role words besides the shared inboxes that are joined with regions and misspelt. */
const OTHER_ROLES = `academy admin administration administrator education engineering events facilities hostmaster
  maintenance management newsletter noreply notifications operations postmaster procurement production projects quality
  receptionist research safety secretary subscribe training unsubscribe webmaster`.split(/\s+/)

/** Words for a part of an organisation, joined before or after a role word: `salesteam`. */
const JOINED_UNITS = new Set(["abteilung", "department", "dept", "desk", "group", "office", "online", "team", "unit"])

/** Role words that may be joined with regions or misspelt, of those that the lists have. */
export const variableRoles = (role: ReadonlySet<string>, sharedInbox: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...sharedInbox, ...OTHER_ROLES.filter(word => role.has(word))].filter(word => !word.includes("-")))

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

/** The role word that a name is with one slip (`enquries`); null: none, or the name is a person's. */
export function findMisspeltRole(name: string, { misspeltRole, personName }: RoleWords): string | null {
  if (name.length < MISSPELT_LETTERS_MIN - 1 || personName.has(name)) return null
  const near = misspeltRole.get(name.charAt(0))?.filter(word => isNear(name, word))
  return near?.find(word => misspellingsOf(word).includes(name)) ?? null
}

/** Whether two texts with the same first letter differ in two adjacent letters at most. */
function isNear(one: string, other: string): boolean {
  const [shorter, longer] = [Math.min(one.length, other.length), Math.max(one.length, other.length)]
  if (longer - shorter > 1) return false
  let same = 1
  while (same < shorter && one.charCodeAt(same) === other.charCodeAt(same)) same++
  for (
    let back = 1;
    back <= shorter && one.charCodeAt(one.length - back) === other.charCodeAt(other.length - back);
    back++
  )
    same++
  return same >= longer - 2
}

/** The longest role word of parts of which the others may stand beside a role. */
function findRoleBeside(parts: readonly string[], words: RoleWords): string | null {
  if (parts.length > PARTS_MAX) return null
  const isBeside = (part: string): boolean =>
    words.region.has(part) || words.group.has(part) || words.sharedInbox.has(part) || /^\d{1,2}$/.test(part)
  for (let length = parts.length - 1; length > 0; length--) {
    for (let start = 0; start + length <= parts.length; start++) {
      const role = parts.slice(start, start + length).join("-")
      const others = [...parts.slice(0, start), ...parts.slice(start + length)]
      // Lists of roles have codes of countries, too.
      if (words.role.has(role) && !words.region.has(role) && others.every(isBeside))
        return isPerson(parts[0] ?? "", role) ? null : role
    }
  }
  return null
}

function findJoinedRole(name: string, words: RoleWords): string | null {
  const isJoined = (text: string): boolean =>
    JOINED_UNITS.has(text) || (words.region.has(text) && (text.length > 3 || JOINED_CODES.has(text)))
  for (let middle = 2; middle <= name.length - 2; middle++) {
    const [before, after] = [name.slice(0, middle), name.slice(middle)]
    const isEnding = ENDING_CODES.has(after) && !INTERNATIONAL_ROLES.has(before)
    if (isJoinable(before) && words.variableRole.has(before) && isJoined(after) && !isEnding) return before
    if (isJoinable(after) && words.variableRole.has(after) && isJoined(before))
      return isPerson(before, after) ? null : after
  }
  return null
}

/** Whether a given name stands before a role word that is a family name. */
const isPerson = (first: string, role: string): boolean => GIVEN_NAMES.has(first) && FAMILY_NAMES.has(role)

/** Whether a role word may be joined with a region. */
export const isJoinable = (word: string): boolean => word.length >= JOINED_ROLE_LETTERS_MIN

/** The role words that are still known with a slip, by their first letter, which never has the slip. */
export const misspeltRolesByLetter = (words: Iterable<string>): ReadonlyMap<string, readonly string[]> =>
  Map.groupBy(
    [...words].filter(word => word.length >= MISSPELT_LETTERS_MIN && /^[a-z]+$/.test(word)),
    word => word.charAt(0),
  )

const VOWELS = "aeiou"

/** Each letter with the keys beside it on a QWERTY keyboard. */
const KEYS_BESIDE = neighboursInRows(["qwertyuiop", "asdfghjkl", "zxcvbnm"])

/**
 * A word with one slip after its first letter: a letter typed twice or swapped with the next, and before its last letter
 * a letter left out, a key beside the right one, another vowel, or an `e` too much. Without its last letter or with another
 * one a word is another form of it, or a name.
 */
export function misspellingsOf(word: string): readonly string[] {
  const misspellings = new Set<string>()
  for (let index = 1; index < word.length; index++) {
    const [start, letter, rest] = [word.slice(0, index), word.charAt(index), word.slice(index + 1)]
    misspellings.add(start + letter + letter + rest)
    if (rest === "") continue
    misspellings.add(start + rest).add(`${start}${letter}e${rest}`)
    misspellings.add(`${start}${rest.charAt(0)}${letter}${rest.slice(1)}`)
    const wrong = (VOWELS.includes(letter) ? VOWELS : "") + (KEYS_BESIDE.get(letter) ?? "")
    for (const typed of wrong) misspellings.add(start + typed + rest)
  }
  misspellings.delete(word)
  return [...misspellings]
}

function neighboursInRows(rows: readonly string[]): ReadonlyMap<string, string> {
  return new Map(rows.flatMap(keys => [...keys].map((key, at) => [key, keys.charAt(at - 1) + keys.charAt(at + 1)])))
}
