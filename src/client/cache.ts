/** Keeps values in memory until they expire: at most so many, and those used last. */
export type ClientCache<V> = {
  readonly get: (key: string, nowMs: number) => V | undefined
  readonly set: (key: string, value: V, expiresAtMs: number) => void
}

/** `entriesMax` 0 keeps nothing. */
export function createClientCache<V>(entriesMax: number): ClientCache<V> {
  const entries = new Map<string, { readonly value: V; readonly expiresAtMs: number }>()
  return {
    get: (key, nowMs) => {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      entries.delete(key)
      if (entry.expiresAtMs <= nowMs) return undefined
      entries.set(key, entry) // the first of a map is the one that was not used for longest
      return entry.value
    },
    set: (key, value, expiresAtMs) => {
      entries.delete(key)
      entries.set(key, { value, expiresAtMs })
      for (const oldest of entries.keys()) {
        if (entries.size <= entriesMax) return
        entries.delete(oldest)
      }
    },
  }
}
