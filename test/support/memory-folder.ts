import type { Folder } from "../../src/check/refresh/refresh-state.ts"

/** A folder in memory, whose user can die between any two of its changes. */
export type MemoryFolder = Folder & {
  readonly held: ReadonlyMap<string, Uint8Array<ArrayBuffer>>
  /** Damages or makes a file, past the folder. */
  readonly put: (name: string, content: Uint8Array | string) => void
  /** Whoever uses the folder dies at the change of this number from now on, the first being 1, before it is done. */
  readonly dieAt: (change: number) => void
  /** Somebody else uses the folder now, who lives. */
  readonly revive: () => void
}

/** Builds an empty one. */
export function memoryFolder(): MemoryFolder {
  const held = new Map<string, Uint8Array<ArrayBuffer>>()
  let changesLeft = Number.POSITIVE_INFINITY
  const live = (): void => {
    if (changesLeft <= 0) throw new Error("the process is dead")
  }
  const change = (work: () => void): void => {
    live()
    changesLeft--
    live()
    work()
  }
  const put = (name: string, content: Uint8Array | string): void =>
    void held.set(name, new Uint8Array(Buffer.from(content)))
  return {
    held,
    put,
    dieAt: number => {
      changesLeft = number
    },
    revive: () => {
      changesLeft = Number.POSITIVE_INFINITY
    },
    read: async name => {
      live()
      return held.get(name) ?? null
    },
    isSame: async (name, bytes) => held.get(name)?.toHex() === Buffer.from(bytes).toString("hex"),
    writeAtomic: async (name, bytes) => change(() => put(name, bytes)),
    createExclusive: async (name, text) => {
      live()
      if (held.has(name)) return false
      change(() => put(name, text))
      return true
    },
    remove: async name => change(() => void held.delete(name)),
    list: async () => {
      live()
      return [...held.keys()]
    },
  }
}
