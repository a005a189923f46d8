/** When a domain was registered, by its registry; null: the registry does not tell, or does not know the domain. */
export type StoredAge = { readonly registeredAtMs: number | null; readonly checkedAtMs: number }

/** What a domain's homepage was like, and what of it is evidence; null: nothing more than that. */
export type StoredHomepage = {
  readonly state: "found" | "parked" | "none"
  readonly evidence: string | null
  readonly checkedAtMs: number
}

/**
 * A place that outlives this process and that others share, for one kind of what is known of domains. Names are A-labels,
 * lower case; instants are milliseconds since the Unix epoch. It keeps what is put there for a while, and tells when it
 * was found: whoever reads decides how long that holds.
 */
export type DomainFactStore<T> = {
  /** Null: nothing is there. Rejects when the place fails. */
  readonly read: (domain: string) => Promise<T | null>
  /** Puts it there, in place of what was found earlier; soon, and perhaps never. It does not throw. */
  readonly write: (domain: string, found: T) => void
}

/** Where ages are shelved. */
export type AgeStore = DomainFactStore<StoredAge>

/** Where homepages are shelved. */
export type HomepageStore = DomainFactStore<StoredHomepage>
