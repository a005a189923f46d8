import { beforeAll } from "bun:test"

/** Tests ask no network: whoever calls `fetch` in the test process fails. Loopback servers are asked by their own clients. */
beforeAll(() => {
  const refuse = (input: string | URL | Request): never => {
    throw new Error(`a test asked the network for ${input instanceof Request ? input.url : input}`)
  }
  globalThis.fetch = Object.assign(refuse, { preconnect: refuse })
})
