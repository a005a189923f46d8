/** The hash of no characters. */
export const HASH_START: number = 0x811c9dc5 | 0

/** The hash of a text with one more code unit (FNV-1a). */
export const mixed = (hash: number, code: number): number => Math.imul(hash ^ code, 0x01000193)

/** A place for a hash among so many, a power of two. */
export const placeAmong = (hash: number, places: number): number => (hash ^ (hash >>> 15)) & (places - 1)

/** Whether the code unit stands between the parts of a word: `-`, `.` or `_`. */
export const isSeparator = (code: number): boolean => code === 45 || code === 46 || code === 95

/** Whether the code unit is an ASCII digit. */
export const isDigit = (code: number): boolean => code >= 48 && code <= 57
