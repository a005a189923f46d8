import { LISTING_STRENGTHS, type ListingStrength } from "../sets.ts"
import { type CatalogueSource, isAggregator } from "../sources/catalogue.ts"

/** So many independent witnesses prove that a name is disposable. */
const WITNESSES_MIN = 2

/** The strength of a name's disposable listings, by the sources that keep it. */
export function listingStrength(sources: readonly CatalogueSource[]): ListingStrength {
  if (sources.some(({ witness, window }) => witness === "sufficient" || window !== undefined)) return "strong"
  const witnesses = sources.filter(source => !isAggregator(source)).length
  if (witnesses >= WITNESSES_MIN) return "strong"
  return witnesses === 0 ? "weak" : "single"
}

/** A strength as a number: the stronger, the greater. */
export const strengthRank = (strength: ListingStrength): number => LISTING_STRENGTHS.indexOf(strength)
