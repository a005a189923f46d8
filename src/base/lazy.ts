/** Makes a value on the first call and returns the same one afterwards. */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Makes a value from another one, and again whenever that is not the same any more. */
export function derived<F, T>(read: () => F, make: (from: F) => T): () => T {
  let last: { readonly from: F; readonly made: T } | null = null
  return () => {
    const from = read()
    if (last === null || last.from !== from) last = { from, made: make(from) }
    return last.made
  }
}
