import { describe, expect, test } from "bun:test"
import { type CallerCredentials, HotKeyCache } from "../../../src/customers/keys/key-cache.ts"
import { generateKey } from "../../../src/customers/keys/key-format.ts"
import { random } from "../temp-store.ts"

const KEPT_MS = 1000

const known = (id: string): CallerCredentials => ({
  kind: "active",
  key: { id, kind: "secret", origins: [] },
  account: { id: `acc_${id}`, tier: 0, acceptedTermsVersion: null, acceptedTermsAtMs: null },
})

function busyAt() {
  const time = { ms: 0 }
  return { time, busy: new HotKeyCache(() => time.ms, KEPT_MS) }
}

describe("a hot key", () => {
  test("is found by its text, and by no other", () => {
    const { busy } = busyAt()
    const texts = Array.from({ length: 500 }, () => generateKey("secret", random))
    for (const [at, text] of texts.entries()) busy.add(text, known(`key_${at}`))
    for (const [at, text] of texts.entries()) expect(busy.get(text)?.key.id).toBe(`key_${at}`)
    for (let at = 0; at < 500; at++) expect(busy.get(generateKey("secret", random))).toBeUndefined()
  })

  test("expires after its time, however often it is used, together with all others", () => {
    const { time, busy } = busyAt()
    const text = generateKey("secret", random)
    expect(busy.get(text)).toBeUndefined()
    busy.add(text, known("key_1"))
    for (time.ms = 0; time.ms <= KEPT_MS; time.ms += 100) expect(busy.get(text)).toBeDefined()
    time.ms = KEPT_MS + 1
    expect(busy.get(text)).toBeUndefined()
    busy.add(text, known("key_1"))
    busy.clear()
    expect(busy.get(text)).toBeUndefined()
  })

  test("is one of a thousand at most", () => {
    const { busy } = busyAt()
    const texts = Array.from({ length: 1500 }, () => generateKey("secret", random))
    for (const text of texts) {
      busy.get(text)
      busy.add(text, known("key"))
    }
    expect(texts.filter(text => busy.get(text) !== undefined)).toHaveLength(1000)
  })

  test("whose digest starts like another's is distinguished by the rest", () => {
    const { busy } = busyAt()
    const [one, other] = twins()
    busy.add(one, known("key_one"))
    expect(busy.get(other)).toBeUndefined()
    busy.add(other, known("key_other"))
    expect(busy.get(other)?.key.id).toBe("key_other")
    expect(busy.get(one)).toBeUndefined()
  })
})

/** Two texts whose SHA-256 share their first four octets: about 80 000 texts have such a pair. */
function twins(): [string, string] {
  const seen = new Map<string, string>()
  for (let count = 0; ; count++) {
    const text = `svc_live_${count}`
    const start = Bun.SHA256.hash(text, "hex").slice(0, 8)
    const twin = seen.get(start)
    if (twin !== undefined) return [twin, text]
    seen.set(start, text)
  }
}
