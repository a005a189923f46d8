/** Where a domain's mail went when it was last looked at. */
export type Sighting = {
  /** 52 bits of a hash of the registrable domain (`domainHash`). */
  readonly domainHash: number
  /** The mail host, as `hostKeyOf` names it. */
  readonly host: string
  /** Whether our lists called the domain disposable then. */
  readonly isListed: boolean
  /** The day, UTC, counted from 1 January 1970. */
  readonly seenOn: number
}

/** The hash by which a domain is remembered: the same in every version, since it is stored. */
export const domainHash = (domain: string): number => Number(Bun.hash.xxHash64(domain) >> UNUSED_BITS)

/** 52 of 64 bits stay: as many as a number and a column hold whole. */
const UNUSED_BITS = 12n
