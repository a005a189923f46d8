/** The members of an object as JSON, without the braces around them. */
export const jsonMembers = (members: object): string => JSON.stringify(members).slice(1, -1)

/**
 * The members of an object in a valid JSON text, as they are written: a name that is written twice is there twice, where `JSON.parse` gives
 * the last one. The values are texts. Empty: the text is no object.
 */
export function writtenMembers(json: string): readonly (readonly [name: string, value: string])[] {
  const members: [string, string][] = []
  if (!json.trimStart().startsWith("{")) return members
  let [valueAt, name] = [0, ""]
  for (const [token, at] of outerTokens(json)) {
    if (token === ":") valueAt = at + 1
    else if (name === "" && token.startsWith('"')) name = token
    else if (name !== "" && END_OF_MEMBER.has(token)) {
      members.push([JSON.parse(name), json.slice(valueAt, at).trim()])
      name = ""
    }
  }
  return members
}

/** The tokens of an object that are in no object or array inside of it, each with its place. */
function* outerTokens(json: string): Generator<readonly [token: string, at: number]> {
  let depth = 0
  for (const { 0: token, index } of json.matchAll(JSON_TOKEN)) {
    if (depth === 1) yield [token, index]
    depth += DEPTH_CHANGES[token] ?? 0
  }
}

/** Strings and the signs between values. */
const JSON_TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]/g
const END_OF_MEMBER: ReadonlySet<string> = new Set([",", "}"])
const DEPTH_CHANGES: Readonly<Record<string, number>> = { "{": 1, "[": 1, "}": -1, "]": -1 }
