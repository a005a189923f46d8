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
  lookup(asked: string): OwnListLookup {
    const byAccount = this.#has("own block", asked) ? "account" : null
    return {
      blockedBy: this.#has("operator block", asked) ? "operator" : byAccount,
      isAllowed: this.#has("own allow", asked),
      isOperatorAllowed: this.#has("operator allow", asked),
    }
  }

  #has(list: string, asked: string): boolean {
    return [...this.on(list)].some(entry => covers(entry, asked))
  }
}

function covers(entry: string, asked: string): boolean {
  const domain = asked.slice(asked.indexOf("@") + 1)
  if (entry.includes("@")) return entry === asked
  if (entry.startsWith("*.")) return domain.endsWith(entry.slice(1))
  return domain === entry || domain.endsWith(`.${entry}`)
}
