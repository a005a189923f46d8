/** A whole number with its thousands apart, as English writes them: `1,000`. */
export const grouped = (count: number): string => new Intl.NumberFormat("en").format(count)

/** A count with its noun: `1 unit`, `1,000 units`. */
export const counted = (count: number, noun: string): string => `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`
