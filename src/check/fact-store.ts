/** When a registry says that a domain was registered; null: it does not say, or does not know the domain. */
export type StoredAge = { readonly registeredAtMs: number | null; readonly checkedAtMs: number }

/** What a domain's homepage was, and the evidence for it; null: there is none but the state itself. */
export type StoredHomepage = {
  readonly state: "found" | "parked" | "none"
  readonly evidence: string | null
  readonly checkedAtMs: number
}

/**
 * Stores one kind of fact by domain. It outlives the process, and several processes share it. Names are A-labels, lower
 * case; instants are milliseconds since the Unix epoch. The reader decides by `checkedAtMs` how long a fact is fresh.
 */
export type DomainFactStore<T> = {
  /** Null: nothing is stored. Rejects if the store fails. */
  readonly read: (domain: string) => Promise<T | null>
  /** Stores the fact soon, or never, in place of an earlier one. It does not throw. */
  readonly write: (domain: string, fact: T) => void
}

/** Stores the ages of domains. */
export type AgeStore = DomainFactStore<StoredAge>
/** Stores what the homepages of domains are. */
export type HomepageStore = DomainFactStore<StoredHomepage>

/** The stored fact; null: nothing is stored, there is no store, or it fails, which `onError` receives. It never rejects. */
export async function readStoredFact<T>(
  store: DomainFactStore<T> | null,
  domain: string,
  onError: (error: unknown) => void,
): Promise<T | null> {
  try {
    return (await store?.read(domain)) ?? null
  } catch (error) {
    onError(error)
    return null
  }
}
