/** The result of parsing a setting: its value, or a phrase for what was expected instead. */
type ParseResult<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly expected: string }

/** A setting: its meaning, how its text is parsed, and its value if the environment does not set it. */
export type Setting<T> = {
  readonly description: string
  /** The default as the documentation shows it. */
  readonly defaultText: string
  readonly defaultValue: T
  readonly parse: (text: string) => ParseResult<T>
  /** Whether it has a password or a key: it is never printed, and can stand in a file of its own. */
  readonly isSecret: boolean
  /** Whether a running server takes a new value on SIGHUP. */
  readonly isReloaded: boolean
  /** The flag that sets it, as commander wants it; null: none. */
  readonly flag: string | null
  /** Whether most servers never set it. */
  readonly isAdvanced: boolean
}

type SettingSpec<T> = {
  readonly description: string
  readonly isReloaded?: true
  readonly isAdvanced?: true
  readonly flag?: string
  readonly defaultValue: T
  readonly defaultText?: string
}

const valid = <T>(value: T): ParseResult<T> => ({ ok: true, value })
const invalid = (sentence: string): ParseResult<never> => ({ ok: false, expected: sentence })

function createSetting<T>(common: SettingSpec<T>, parse: (text: string) => ParseResult<T>): Setting<T> {
  const { description, defaultValue, defaultText = defaultValue === null ? "none" : String(defaultValue) } = common
  const { flag = null, isReloaded = false, isAdvanced = false } = common
  return { description, defaultValue, defaultText, parse, isSecret: false, isReloaded, flag, isAdvanced }
}

/** A whole number from `min` to `max`. */
export function integer(spec: SettingSpec<number> & { readonly min: number; readonly max: number }): Setting<number> {
  return createSetting(spec, text => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= spec.min && value <= spec.max
      ? valid(value)
      : invalid(`a whole number from ${spec.min} to ${spec.max}`)
  })
}

/** A whole number from `min` to `max`, or a word. */
function integerOrWord<W extends string>(
  word: W,
  spec: SettingSpec<number | W> & { readonly min: number; readonly max: number },
): Setting<number | W> {
  const number = integer({ ...spec, defaultValue: spec.min })
  return createSetting<number | W>(spec, given => {
    if (given === word) return valid(word)
    const read = number.parse(given)
    return read.ok ? read : invalid(`${read.expected}, or ${word}`)
  })
}

type IntegerOrWord<W extends string> = (spec: Parameters<typeof integerOrWord<W>>[1]) => Setting<number | W>

/** A whole number from `min` to `max`, or `off`. */
export const integerOrOff: IntegerOrWord<"off"> = spec => integerOrWord("off", spec)

/** A whole number from `min` to `max`, or `auto`. */
export const integerOrAuto: IntegerOrWord<"auto"> = spec => integerOrWord("auto", spec)

/** Whether a text is a URL with the scheme and its two slashes, without which it would be read as if they were there; a file is one of this host. */
function isUrlOf(scheme: string, text: string): boolean {
  const begins = scheme === "file" ? /^file:(?:\/\/(?:localhost)?)?\/(?!\/)/i : /^[a-z]+:\/\//i
  return begins.test(text) && URL.parse(text)?.protocol === `${scheme}:`
}

/** A comma-separated list of `name=URL`. White space around members is ignored, and the last of two members with the same name counts. */
export function urlMap(
  spec: SettingSpec<ReadonlyMap<string, string>> & {
    readonly namePattern: RegExp
    readonly schemes: readonly string[]
  },
): Setting<ReadonlyMap<string, string>> {
  const sentence = `a comma list of name=URL with ${spec.schemes.map(scheme => `${scheme}://`).join(" or ")}`
  return createSetting<ReadonlyMap<string, string>>(spec, given => {
    const members = given.split(",").map(member => {
      const at = member.indexOf("=")
      return [member.slice(0, at).trim(), member.slice(at + 1).trim()] as const
    })
    const isRight = ([name, address]: readonly [string, string]): boolean =>
      spec.namePattern.test(name) && spec.schemes.some(scheme => isUrlOf(scheme, address))
    return members.every(isRight) ? valid(new Map(members)) : invalid(sentence)
  })
}

/** One of a fixed set of words. */
export function choice<const C extends string>(spec: SettingSpec<C> & { readonly options: readonly C[] }): Setting<C> {
  return createSetting<C>(spec, text => {
    const found = spec.options.find(word => word === text)
    return found === undefined ? invalid(`one of ${spec.options.join(", ")}`) : valid(found)
  })
}

/** Text that matches a pattern; `null` if it is not set. */
export function text<F extends string | null>(
  spec: SettingSpec<F> & { readonly pattern: RegExp; readonly expected: string },
): Setting<string | F> {
  return createSetting<string | F>(spec, given => (spec.pattern.test(given) ? valid(given) : invalid(spec.expected)))
}

/** An absolute URL with one of the schemes, without credentials, query and fragment. Trailing slashes are removed. */
export function url<F extends string | null>(
  spec: SettingSpec<F> & { readonly schemes: readonly string[]; readonly allowsOff?: boolean },
): Setting<string | F> {
  const sentence = `a URL with ${spec.schemes.map(scheme => `${scheme}://`).join(" or ")}${spec.allowsOff ? ", or off" : ""}`
  return createSetting<string | F>(spec, given => {
    if (spec.allowsOff && given === "off") return valid(given)
    const parsed = URL.parse(given)
    const plain =
      parsed !== null && parsed.username === "" && parsed.password === "" && parsed.search === "" && parsed.hash === ""
    if (!plain || !spec.schemes.some(scheme => isUrlOf(scheme, given))) return invalid(sentence)
    return valid(given.replace(/\/+$/, ""))
  })
}

/** What is printed in the place of a secret. */
export const SECRET_TEXT = "•••"

/** A value that is printed as `•••` in text, JSON and logs. `reveal()` returns it. */
export class Secret {
  readonly #value: string
  constructor(value: string) {
    this.#value = value
  }
  reveal(): string {
    return this.#value
  }
  toString(): string {
    return SECRET_TEXT
  }
  toJSON(): string {
    return SECRET_TEXT
  }
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return SECRET_TEXT
  }
}

/** Text that is a key or may contain a password; `null` if it is not set. */
export function secret(
  spec: SettingSpec<null> & { readonly pattern: RegExp; readonly expected: string },
): Setting<Secret | null> {
  const setting = createSetting<Secret | null>(spec, given =>
    spec.pattern.test(given) ? valid(new Secret(given)) : invalid(spec.expected),
  )
  return { ...setting, isSecret: true }
}

/** A comma-separated list of valid members. White space around members is ignored. `off`, where allowed, must be the only word. */
export function list(
  spec: SettingSpec<readonly string[]> & {
    readonly isMember: (text: string) => boolean
    readonly expected: string
    readonly allowsOff?: boolean
  },
): Setting<readonly string[]> {
  const { defaultText = spec.defaultValue.join(", ") } = spec
  return createSetting<readonly string[]>({ ...spec, defaultText }, given => {
    if (spec.allowsOff && given === "off") return valid([given])
    const members = given.split(",").map(member => member.trim())
    return members.every(spec.isMember) ? valid(members) : invalid(spec.expected)
  })
}
