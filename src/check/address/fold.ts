/**
 * Folds a host label so that texts that can be taken for each other become one: `rn` and `m`, `vv` and `w`, `cl` and
 * `d`; `0` and `o`; `1`, `i` and `l`; and the digits that are written for letters (3 e, 4 a, 5 s, 7 t, 8 b).
 */
export function fold(label: string): string {
  let folded = ""
  for (let at = 0; at < label.length; at++) {
    const pair = pairAt(label, at, label.length)
    if (pair !== 0) at++
    folded += String.fromCharCode(pair === 0 ? foldedUnit(label.charCodeAt(at)) : pair)
  }
  return folded
}

/**
 * A 32-bit FNV-1a hash of `fold(label.slice(start, end))`, made without a string: it stands in the path of every check.
 */
export function foldHash(label: string, start: number, end: number): number {
  let hash = 0x811c9dc5
  for (let at = start; at < end; at++) {
    const pair = pairAt(label, at, end)
    if (pair !== 0) at++
    hash = Math.imul(hash ^ (pair === 0 ? foldedUnit(label.charCodeAt(at)) : pair), 0x01000193)
  }
  return hash >>> 0
}

const [C, D, L, M, N, R, V, W, ONE] = [..."cdlmnrvw1"].map(letter => letter.charCodeAt(0))

/** The letter that two letters at a position look like, as a code unit; 0: none. */
function pairAt(label: string, at: number, end: number): number {
  const first = label.charCodeAt(at)
  if (first !== R && first !== V && first !== C) return 0
  const second = at + 1 < end ? label.charCodeAt(at + 1) : 0
  if (first === R) return second === N ? (M ?? 0) : 0
  if (first === V) return second === V ? (W ?? 0) : 0
  return second === L || second === ONE ? (D ?? 0) : 0
}

const UNITS = Uint8Array.from({ length: 128 }, (_, unit) => unit)
for (const [from, to] of ["0o", "1l", "il", "3e", "4a", "5s", "7t", "8b"]) {
  if (from !== undefined && to !== undefined) UNITS[from.charCodeAt(0)] = to.charCodeAt(0)
}

const foldedUnit = (unit: number): number => UNITS[unit] ?? unit
