/** What the library takes from the program around it. Tests replace it. */
export type ClientPlatform = {
  /** Milliseconds of a clock. */
  readonly now: () => number
  /** From 0 up to 1. */
  readonly random: () => number
  /** Calls after so many milliseconds, and gives what prevents it. */
  readonly after: (ms: number, call: () => void) => () => void
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  readonly newId: () => string
  /** Whether the program is the page of a browser, where everybody can read a secret key. */
  readonly isPage: () => boolean
}

/** The option that replaces the network. */
export type NetworkOption = {
  /** Another `fetch`, such as one with a proxy. */
  readonly fetch?: ClientPlatform["fetch"] | undefined
}

/** The program around the library as it is, with its own network if it names none. */
export const clientPlatform = ({ fetch }: NetworkOption): ClientPlatform => ({
  now: () => performance.now(),
  random: () => Math.random(),
  after: (ms, call) => {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  },
  fetch: fetch ?? ((url, init) => globalThis.fetch(url, init)),
  newId,
  isPage: () => "document" in globalThis && "window" in globalThis,
})

/** A page without TLS has no `randomUUID`. */
function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return `mkc_${[...bytes].map(byte => byte.toString(16).padStart(2, "0")).join("")}`
}
