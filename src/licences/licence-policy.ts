type LicenceTerms = {
  /** What it asks of who passes the program on. */
  readonly requires: string
  /** Whether it may be that of the runtime alone, which is linked as it was published and can be exchanged. */
  readonly runtimeOnly?: true
}

/** The licences under which others' work may be in this program, by SPDX identifier. Any other stops the build. */
export const LICENCES = {
  MIT: { requires: "Its text stays with the copies." },
  "MIT-0": { requires: "Nothing." },
  ISC: { requires: "Its text stays with the copies." },
  "0BSD": { requires: "Nothing." },
  "BSD-2-Clause": { requires: "Its text stays with the copies." },
  "BSD-3-Clause": { requires: "Its text stays with the copies; the authors' names advertise nothing." },
  "Apache-2.0": { requires: "Its text and the notices stay with the copies; changed files say so." },
  "BlueOak-1.0.0": { requires: "Its text, or a link to it, stays with the copies." },
  "CC0-1.0": { requires: "Nothing: the work is given to the public." },
  "Unicode-DFS-2016": { requires: "Its text stays with the copies; the holder's name advertises nothing." },
  "LicenseRef-SCOWL": { requires: "Its notice stays with the copies and with the documentation." },
  "LGPL-2.0-or-later": {
    requires: "Its text stays with the copies, and the library can be exchanged.",
    runtimeOnly: true,
  },
  "LGPL-2.1-or-later": {
    requires: "Its text stays with the copies, and the library can be exchanged.",
    runtimeOnly: true,
  },
} as const satisfies Record<string, LicenceTerms>

type LicenceId = keyof typeof LICENCES

/** Whether an SPDX identifier is one of the table. */
const isLicenceId = (id: string): id is LicenceId => Object.hasOwn(LICENCES, id)

/**
 * The licences to go by, of an SPDX expression (SPDX 2.3, annex D): the first of its alternatives that the policy allows.
 * Null: it allows none of them, or the text is no expression.
 */
export function allowedLicences(expression: string, isRuntime = false): readonly LicenceId[] | null {
  const allowed = (id: string): id is LicenceId =>
    isLicenceId(id) && (isRuntime || !("runtimeOnly" in LICENCES[id] && LICENCES[id].runtimeOnly))
  for (const ids of parseAlternatives(expression) ?? []) if (ids.every(allowed)) return ids
  return null
}

/** Each way to satisfy an expression, as the licences that hold together; null: it is no expression. */
function parseAlternatives(expression: string): readonly (readonly string[])[] | null {
  const words = expression.match(/[()]|[^\s()]+/g) ?? []
  let at = 0
  const either = (): readonly (readonly string[])[] | null => {
    const sides = [both()]
    while (words[at] === "OR") {
      at++
      sides.push(both())
    }
    return sides.every(side => side !== null) ? sides.flat() : null
  }
  const both = (): readonly (readonly string[])[] | null => {
    let sides = one()
    while (words[at] === "AND") {
      at++
      const next = one()
      sides = sides === null || next === null ? null : sides.flatMap(left => next.map(right => [...left, ...right]))
    }
    return sides
  }
  const one = (): readonly (readonly string[])[] | null => {
    const word = words[at++]
    if (word === "(") {
      const inner = either()
      return words[at++] === ")" ? inner : null
    }
    if (word === undefined || !/^[A-Za-z0-9][A-Za-z0-9.+-]*$/.test(word) || /^(?:AND|OR|WITH)$/.test(word)) return null
    if (words[at] !== "WITH") return [[word]]
    at += 2
    return [[`${word} WITH ${words[at - 1] ?? ""}`]]
  }
  const all = either()
  return at === words.length ? all : null
}

/** A checkout from which nothing may be passed on as it is: each fault is a sentence. */
export class LicenceError extends Error {
  override readonly name = "NotToBePassedOn"
  constructor(faults: readonly string[]) {
    super(["this checkout cannot be passed on:", ...faults].join("\n  "))
  }
}
