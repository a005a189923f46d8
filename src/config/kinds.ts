/** What reading one setting's text gives: a value, or the sentence that says what is wrong with the text. */
type Read<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly wants: string }

/** One setting: what it means, how its text is read, and its value when the environment does not name it. */
export type Setting<T> = {
  readonly says: string
  /** The default, as the documentation prints it. */
  readonly shown: string
  readonly fallback: T
  readonly read: (text: string) => Read<T>
  /** Whether this version acts on it. A setting that does not act is accepted, so that one environment serves all versions. */
  readonly acts: boolean
}

type Common<T> = { readonly says: string; readonly fallback: T; readonly shown?: string; readonly acts?: boolean }

const ok = <T>(value: T): Read<T> => ({ ok: true, value })
const wants = (sentence: string): Read<never> => ({ ok: false, wants: sentence })

function setting<T>(common: Common<T>, read: (text: string) => Read<T>): Setting<T> {
  const { says, fallback, shown = fallback === null ? "none" : String(fallback), acts = true } = common
  return { says, fallback, shown, acts, read }
}

/** A whole number from `min` to `max`. */
export function integer(spec: Common<number> & { readonly min: number; readonly max: number }): Setting<number> {
  return setting(spec, text => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= spec.min && value <= spec.max ? ok(value) : wants(`a whole number from ${spec.min} to ${spec.max}`)
  })
}

/** A whole number from `min` to `max`, or `off`. */
export function integerOrOff(
  spec: Common<number | "off"> & { readonly min: number; readonly max: number },
): Setting<number | "off"> {
  const number = integer({ ...spec, fallback: spec.min })
  return setting<number | "off">(spec, given => {
    if (given === "off") return ok(given)
    const read = number.read(given)
    return read.ok ? read : wants(`${read.wants}, or off`)
  })
}

/** A comma list of `name=URL`; white space around members is ignored, and the last of two with one name counts. */
export function urls(
  spec: Common<ReadonlyMap<string, string>> & { readonly name: RegExp; readonly schemes: readonly string[] },
): Setting<ReadonlyMap<string, string>> {
  const sentence = `a comma list of name=URL with ${spec.schemes.map(scheme => `${scheme}://`).join(" or ")}`
  return setting<ReadonlyMap<string, string>>(spec, given => {
    const members = given.split(",").map(member => {
      const at = member.indexOf("=")
      return [member.slice(0, at).trim(), member.slice(at + 1).trim()] as const
    })
    const isRight = ([name, address]: readonly [string, string]): boolean =>
      spec.name.test(name) && spec.schemes.includes(URL.parse(address)?.protocol.slice(0, -1) ?? "")
    return members.every(isRight) ? ok(new Map(members)) : wants(sentence)
  })
}

/** One of a closed set of words. */
export function choice<const C extends string>(spec: Common<C> & { readonly of: readonly C[] }): Setting<C> {
  return setting<C>(spec, text => {
    const found = spec.of.find(word => word === text)
    return found === undefined ? wants(`one of ${spec.of.join(", ")}`) : ok(found)
  })
}

/** Text of a given shape; `null` when it is not set. */
export function text<F extends string | null>(
  spec: Common<F> & { readonly shape: RegExp; readonly wants: string },
): Setting<string | F> {
  return setting<string | F>(spec, given => (spec.shape.test(given) ? ok(given) : wants(spec.wants)))
}

/** An absolute URL with one of the schemes, without credentials, query and fragment; kept without a trailing slash. */
export function url<F extends string | null>(
  spec: Common<F> & { readonly schemes: readonly string[]; readonly off?: boolean },
): Setting<string | F> {
  const sentence = `a URL with ${spec.schemes.map(scheme => `${scheme}://`).join(" or ")}${spec.off ? ", or off" : ""}`
  return setting<string | F>(spec, given => {
    if (spec.off && given === "off") return ok(given)
    const parsed = URL.parse(given)
    const plain = parsed !== null && parsed.username === "" && parsed.search === "" && parsed.hash === ""
    if (!plain || !spec.schemes.includes(parsed.protocol.slice(0, -1))) return wants(sentence)
    return ok(given.replace(/\/+$/, ""))
  })
}

/** A value that never prints: it shows as `•••` in text, JSON and logs; `reveal()` gives it. */
export class Secret {
  readonly #value: string
  constructor(value: string) {
    this.#value = value
  }
  reveal(): string {
    return this.#value
  }
  toString(): string {
    return "•••"
  }
  toJSON(): string {
    return "•••"
  }
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return "•••"
  }
}

/** Text that may hold a password; `null` when it is not set. */
export function secret(
  spec: Common<null> & { readonly shape: RegExp; readonly wants: string },
): Setting<Secret | null> {
  return setting<Secret | null>(spec, given => (spec.shape.test(given) ? ok(new Secret(given)) : wants(spec.wants)))
}

/** A comma list, each member of a given shape; white space around members is ignored. `off`, where it may be, stands alone. */
export function list(
  spec: Common<readonly string[]> & {
    readonly member: (text: string) => boolean
    readonly wants: string
    readonly off?: boolean
  },
): Setting<readonly string[]> {
  const { shown = spec.fallback.join(", ") } = spec
  return setting<readonly string[]>({ ...spec, shown }, given => {
    if (spec.off && given === "off") return ok([given])
    const members = given.split(",").map(member => member.trim())
    return members.every(spec.member) ? ok(members) : wants(spec.wants)
  })
}
