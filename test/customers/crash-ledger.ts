/** What was acknowledged, and so must be there whatever crashes. */
export class Ledger {
  /** By id; of a key whose revocation was asked for and not acknowledged, nothing can be said. */
  readonly #keys = new Map<string, { readonly text: string; state: "active" | "asked" | "revoked" }>()
  readonly #reports = new Set<string>()

  /** A key was created. */
  created(id: string, text: string): void {
    this.#keys.set(id, { text, state: "active" })
  }

  /** Somebody is about to ask that the key be revoked. */
  asksToRevoke(id: string): void {
    this.#set(id, "asked")
  }

  /** The key was revoked. */
  revoked(id: string): void {
    this.#set(id, "revoked")
  }

  /** A report was received. */
  reported(id: string): void {
    this.#reports.add(id)
  }

  /** The texts of all keys that are in a state. */
  keys(wanted: "active" | "revoked"): readonly string[] {
    return this.#keys
      .values()
      .filter(({ state }) => state === wanted)
      .map(({ text }) => text)
      .toArray()
  }

  /** The ids of all reports. */
  get reports(): ReadonlySet<string> {
    return this.#reports
  }

  #set(id: string, state: "asked" | "revoked"): void {
    const key = this.#keys.get(id)
    if (key === undefined) throw new Error(`no key ${id} was acknowledged`)
    key.state = state
  }
}
