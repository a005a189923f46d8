import { queryOf } from "../query.ts"

/** The parameter of a page's URL that names what was done just before. */
const PARAMETER = "done"

/** What was done, in the words that the page has for it; null: nothing, or nothing that it knows. */
export function doneWords(url: string, deeds: Readonly<Record<string, string>>): string | null {
  const name = queryOf(url).get(PARAMETER)
  return name !== null && Object.hasOwn(deeds, name) ? (deeds[name] ?? null) : null
}
