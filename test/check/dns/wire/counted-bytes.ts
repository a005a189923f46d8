/** The same bytes, and how many of them were read. A view counts as a read of each of its bytes. */
export function counted(bytes: Uint8Array): { readonly packet: Uint8Array; readonly looks: () => number } {
  let looks = 0
  const packet = new Proxy(bytes, {
    get: (target, key) => {
      if (key === "subarray") {
        return (from: number, to: number) => {
          looks += to - from
          return target.subarray(from, to)
        }
      }
      if (typeof key === "string" && key !== "length") looks++
      return Reflect.get(target, key, target)
    },
  })
  return { packet, looks: () => looks }
}
