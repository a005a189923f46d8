/*
 * What the package uses of the language that Node.js 20 and 22 lack. The build has every module of the package import these names from
 * here, so that no global of the program that uses the package changes. Where the runtime has a function, that is used.
 */
const { Map: OwnMap, Promise: OwnPromise, URL: OwnUrl, RegExp: OwnRegExp, Array: OwnArray } = globalThis

class NewerMap<Key, Value> extends OwnMap<Key, Value> {
  static override groupBy<Group, Item>(
    items: Iterable<Item>,
    groupOf: (item: Item, index: number) => Group,
  ): Map<Group, Item[]> {
    const groups = new NewerMap<Group, Item[]>()
    let index = 0
    for (const item of items) groups.getOrInsertComputed(groupOf(item, index++), () => []).push(item)
    return groups
  }

  override getOrInsertComputed(key: Key, compute: (key: Key) => Value): Value {
    if (!this.has(key)) this.set(key, compute(key))
    return this.get(key) as Value // it has the key
  }
}

/** The class, or one that has the functions which it lacks. The objects of both are the same. */
function withFunctions<Class extends object>(original: Class, functions: Partial<Class>): Class {
  const missing = Object.entries(functions).filter(([name]) => !(name in original))
  if (missing.length === 0) return original
  const construct = original as unknown as new (...values: unknown[]) => object // it is a class
  function Extended(...values: unknown[]): object {
    return Reflect.construct(construct, values, new.target ?? construct)
  }
  Extended.prototype = construct.prototype
  return Object.assign(Object.setPrototypeOf(Extended, original), Object.fromEntries(missing))
}

function withResolvers<Value>(): PromiseWithResolvers<Value> {
  const made: Partial<PromiseWithResolvers<Value>> = {}
  const promise = new OwnPromise<Value>((resolve, reject) => Object.assign(made, { resolve, reject }))
  return { ...made, promise } as PromiseWithResolvers<Value> // the promise has called the function
}

async function fromAsync<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

function parseUrl(text: string | URL, base?: string | URL): URL | null {
  try {
    return new OwnUrl(text, base)
  } catch {
    return null
  }
}

/** Every character that means something in a pattern or a class is written as its code, as letters and digits at the start are. */
const escapeForPattern = (text: string): string =>
  text.replace(
    /^[\da-zA-Z]|[\^$\\.*+?()[\]{}|/,\-=<>#&!%:;@~'`"\s]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  )

const hasNewerMap = "getOrInsertComputed" in OwnMap.prototype && "groupBy" in OwnMap
const LanguageMap = hasNewerMap ? OwnMap : NewerMap
const LanguagePromise = withFunctions(OwnPromise, {
  withResolvers,
  try: async (work: (...values: never[]) => unknown, ...values: never[]) => await work(...values),
} as Partial<PromiseConstructor>)
const LanguageUrl = withFunctions(OwnUrl, { parse: parseUrl })
const LanguageRegExp = withFunctions(OwnRegExp, { escape: escapeForPattern })
const LanguageArray = withFunctions(OwnArray, { fromAsync } as Partial<ArrayConstructor>)

export {
  LanguageArray as Array,
  LanguageMap as Map,
  LanguagePromise as Promise,
  LanguageRegExp as RegExp,
  LanguageUrl as URL,
}
