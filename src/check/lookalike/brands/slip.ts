/**
 * Whether two texts are one slip apart: a letter too many, missing or wrong, or two neighbours swapped. A letter more or less at the end is
 * none where it is an `s`, the plural.
 */
export function isSlip(typed: string, meant: string): boolean {
  if (typed === `${meant}s` || meant === `${typed}s`) return false
  let start = 0
  while (start < typed.length && typed.charCodeAt(start) === meant.charCodeAt(start)) start++
  let [typedEnd, meantEnd] = [typed.length, meant.length]
  while (typedEnd > start && meantEnd > start && typed.charCodeAt(typedEnd - 1) === meant.charCodeAt(meantEnd - 1)) {
    typedEnd--
    meantEnd--
  }
  const [changed, wanted] = [typed.slice(start, typedEnd), meant.slice(start, meantEnd)]
  if (changed.length + wanted.length === 0) return false
  if (changed.length <= 1 && wanted.length <= 1) return true
  return changed.length === 2 && wanted.length === 2 && changed[0] === wanted[1] && changed[1] === wanted[0]
}
