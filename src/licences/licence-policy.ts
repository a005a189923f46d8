type LicenceTerms = {
  /** What it requires of whoever distributes the program. */
  readonly requires: string
  /** Whether it is allowed only for the runtime, which is linked as published and can be replaced. */
  readonly runtimeOnly?: true
}

/** The allowed licences of third-party work, by SPDX identifier. Any other stops the build. */
export const LICENCES = {
  MIT: { requires: "Copies include its text." },
  "MIT-0": { requires: "Nothing." },
  ISC: { requires: "Copies include its text." },
  "0BSD": { requires: "Nothing." },
  "BSD-2-Clause": { requires: "Copies include its text." },
  "BSD-3-Clause": { requires: "Copies include its text. The authors' names are not used in advertising." },
  "Apache-2.0": { requires: "Copies include its text and the notices. Changed files say so." },
  "BlueOak-1.0.0": { requires: "Copies include its text or a link to it." },
  "CC0-1.0": { requires: "Nothing. The work is in the public domain." },
  "LicenseRef-US-government-work": { requires: "Nothing. It has no copyright in the United States (17 U.S.C. § 105)." },
  "Unicode-DFS-2016": { requires: "Copies include its text. The holder's name is not used in advertising." },
  "LicenseRef-SCOWL": { requires: "Copies and their documentation include its notice." },
  "LGPL-2.0-or-later": {
    requires: "Copies include its text, and the library can be replaced.",
    runtimeOnly: true,
  },
  "LGPL-2.1-or-later": {
    requires: "Copies include its text, and the library can be replaced.",
    runtimeOnly: true,
  },
} as const satisfies Record<string, LicenceTerms>

type LicenceId = keyof typeof LICENCES

/** Whether the table has this SPDX identifier. */
const isLicenceId = (id: string): id is LicenceId => Object.hasOwn(LICENCES, id)

/**
 * The first allowed alternative of an SPDX expression (SPDX 2.3, annex D); `null` if none is allowed or the text is not an
 * expression.
 */
export function allowedLicences(expression: string, isRuntime = false): readonly LicenceId[] | null {
  const allowed = (id: string): id is LicenceId =>
    isLicenceId(id) && (isRuntime || !("runtimeOnly" in LICENCES[id] && LICENCES[id].runtimeOnly))
  for (const ids of parseAlternatives(expression) ?? []) if (ids.every(allowed)) return ids
  return null
}

/** The alternatives of an expression, each with the licences that apply together; `null` if the text is not an expression. */
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

/** The checkout violates the licence policy. Each fault is a sentence. */
export class LicenceError extends Error {
  override readonly name = "LicenceError"
  constructor(faults: readonly string[]) {
    super(["this checkout cannot be passed on:", ...faults].join("\n  "))
  }
}
