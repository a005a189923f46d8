import { assert } from "../../base/errors.ts"

/** The postal abbreviations of the American states. */
const STATES: ReadonlySet<string> = new Set(
  (
    "al ak az ar ca co ct de fl ga hi id il in ia ks ky la me md ma mi mn ms mo " +
    "mt ne nv nh nj nm ny nc nd oh ok or pa ri sc sd tn tx ut vt va wa wv wi wy"
  ).split(" "),
)

/** A part of a form: literal text, a run of characters, or an American state. */
type FormPart =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "run"; readonly of: CharacterClass; readonly lengthMin: number; readonly lengthMax: number }
  | { readonly kind: "state" }

type CharacterClass = "letter" | "digit" | "any"

/** A form of a label, as it is matched. */
export type NameForm = {
  readonly parts: readonly FormPart[]
  /** The literal texts that the form begins and ends with, which rule most labels out at once; empty: none. */
  readonly head: string
  readonly tail: string
}

const PART = /[*@#]|\{st\}|[a-z0-9-]+/y
const LABEL_LENGTH_MAX = 63

/**
 * Reads a form: `*` is three or more letters, digits or hyphens (two or more beside a hyphen); `@` is three or more letters;
 * `#` is one to four digits; `{st}` is an American state; letters, digits and hyphens are literal. Throws `InvariantError` if the text is not a form.
 */
export function parseNameForm(text: string): NameForm {
  const parts: FormPart[] = []
  let index = 0
  while (index < text.length) {
    PART.lastIndex = index
    const token = PART.exec(text)?.[0]
    assert(token !== undefined, `${text} is a form`)
    const besideHyphen = text[index - 1] === "-" || text[index + token.length] === "-"
    parts.push(formPart(token, besideHyphen ? 2 : 3))
    index += token.length
  }
  const [first, last] = [parts[0], parts.at(-1)]
  assert(first !== undefined && last !== undefined, "a form has a part")
  return { parts, head: literalOf(first), tail: literalOf(last) }
}

const literalOf = (part: FormPart): string => (part.kind === "literal" ? part.text : "")

function formPart(token: string, lengthMin: number): FormPart {
  if (token === "*") return { kind: "run", of: "any", lengthMin, lengthMax: LABEL_LENGTH_MAX }
  if (token === "@") return { kind: "run", of: "letter", lengthMin: 3, lengthMax: LABEL_LENGTH_MAX }
  if (token === "#") return { kind: "run", of: "digit", lengthMin: 1, lengthMax: 4 }
  return token === "{st}" ? { kind: "state" } : { kind: "literal", text: token }
}

/** Whether the form matches all of the first `end` characters of `name`. */
export const hasNameForm = ({ parts, head, tail }: NameForm, name: string, end: number): boolean =>
  name.startsWith(head) &&
  tail.length <= end &&
  name.startsWith(tail, end - tail.length) &&
  matchesFrom(parts, 0, name, 0, end)

/** Whether the parts from `partIndex` on match the characters from `start` to `end`. The recursion is as deep as the form has parts. */
function matchesFrom(parts: readonly FormPart[], partIndex: number, name: string, start: number, end: number): boolean {
  const part = parts[partIndex]
  if (part === undefined) return start === end
  if (part.kind === "literal") {
    const next = start + part.text.length
    return next <= end && name.startsWith(part.text, start) && matchesFrom(parts, partIndex + 1, name, next, end)
  }
  if (part.kind === "state") {
    const next = start + 2
    return next <= end && STATES.has(name.slice(start, next)) && matchesFrom(parts, partIndex + 1, name, next, end)
  }
  const last = Math.min(start + part.lengthMax, end)
  for (let next = start; next <= last; next++) {
    if (next > start && !isOfClass(name.charCodeAt(next - 1), part.of)) return false
    if (next - start >= part.lengthMin && matchesFrom(parts, partIndex + 1, name, next, end)) return true
  }
  return false
}

function isOfClass(code: number, characters: CharacterClass): boolean {
  const isDigit = code >= 48 && code <= 57
  if (characters === "digit") return isDigit
  const isLetter = code >= 97 && code <= 122
  return isLetter || (characters === "any" && (isDigit || code === 45))
}
