import type { OwnListLookup } from "../../../src/customers/own-lists/own-list-cache.ts"

/** Block and allow lists as anybody would write them: entries as texts, each tried in turn. */
export class ReferenceLists {
  readonly #entries = new Map<string, Set<string>>()

  /** The entries of a list, such as `own block`. */
  on(list: string): Set<string> {
    const entries = this.#entries.get(list) ?? new Set()
    this.#entries.set(list, entries)
    return entries
  }

  /** What the lists say of a domain or a normalized address. */
  lookup(input: string): OwnListLookup {
    const byAccount = this.#has("own block", input) ? "account" : null
    return {
      blockedBy: this.#has("operator block", input) ? "operator" : byAccount,
      isAllowed: this.#has("own allow", input),
      isOperatorAllowed: this.#has("operator allow", input),
    }
  }

  #has(list: string, text: string): boolean {
    return [...this.on(list)].some(entry => covers(entry, text))
  }
}

function covers(entry: string, requests: string): boolean {
  const domain = requests.slice(requests.indexOf("@") + 1)
  if (entry.includes("@")) return entry === requests || entry === requests.replace(/\+[^@]*/, "")
  if (entry.startsWith("*.")) return domain.endsWith(entry.slice(1))
  return domain === entry || domain.endsWith(`.${entry}`)
}
