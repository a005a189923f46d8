import { expect, test } from "bun:test"
import { createHash } from "node:crypto"
import { crc32 } from "node:zlib"
import fc from "fast-check"
import {
  generateKey,
  hashKey,
  isEqualHash,
  KEY_KINDS,
  type KeyKind,
  parseKey,
} from "../../../src/customers/keys/key-format.ts"
import { BASE62_DIGITS } from "../../../src/customers/store/core/id.ts"
import { random } from "../temp-store.ts"

const anyKey = fc
  .tuple(fc.constantFrom<KeyKind>("secret", "publishable"), fc.uint8Array({ minLength: 32, maxLength: 32 }))
  .map(([kind, bytes]) => generateKey(kind, () => bytes.map(byte => byte % 248)))

test("a key is its prefix, 32 random digits, and six of the CRC-32 of both", () => {
  const zeros = generateKey("secret", count => new Uint8Array(count))
  expect(zeros.slice(0, 41)).toBe(`svc_live_${"0".repeat(32)}`)
  let rest = crc32(zeros.slice(0, 41))
  for (const digit of [...zeros.slice(41)].reverse()) {
    expect(digit).toBe(BASE62_DIGITS.charAt(rest % 62))
    rest = Math.floor(rest / 62)
  }
  expect(generateKey("secret", random)).toMatch(/^svc_live_[0-9A-Za-z]{38}$/)
  expect(generateKey("publishable", random)).toMatch(/^svc_pub_[0-9A-Za-z]{38}$/)
})

test("the format never changes: released keys always parse", () => {
  // The checksums were computed with Python's zlib.crc32.
  expect(generateKey("secret", count => new Uint8Array(count))).toBe("svc_live_000000000000000000000000000000003uclD9")
  expect(generateKey("publishable", count => new Uint8Array(count))).toBe(
    "svc_pub_000000000000000000000000000000001u9CTB",
  )
})

test("every new key is well-formed and of its kind", () => {
  fc.assert(
    fc.property(anyKey, key => {
      const keyKind = key.startsWith(KEY_KINDS.secret.prefix) ? "secret" : "publishable"
      expect(parseKey(key)).toEqual({ kind: "well_formed", keyKind })
    }),
  )
})

test("any one changed character of a key is detected", () => {
  const change = fc.tuple(
    anyKey,
    fc.nat(),
    fc.oneof(fc.constantFrom(...BASE62_DIGITS), fc.string({ unit: "binary", minLength: 1, maxLength: 1 })),
  )
  fc.assert(
    fc.property(change, ([key, place, character]) => {
      const at = place % key.length
      fc.pre(key.charAt(at) !== character)
      expect(parseKey(key.slice(0, at) + character + key.slice(at + 1)).kind).not.toBe("well_formed")
    }),
    { numRuns: 5000 },
  )
})

test("every changed digit at every position of a key is detected", () => {
  const key = generateKey("secret", random)
  for (let at = 9; at < key.length; at++)
    for (const digit of BASE62_DIGITS)
      if (digit !== key.charAt(at))
        expect(parseKey(key.slice(0, at) + digit + key.slice(at + 1))).toEqual({ kind: "bad_checksum" })
})

test("any cut, any added character and any swapped neighbours are detected", () => {
  fc.assert(
    fc.property(anyKey, fc.nat(), (key, place) => {
      const at = place % key.length
      expect(parseKey(key.slice(0, at)).kind).toBe("malformed")
      expect(parseKey(key.slice(at + 1)).kind).toBe("malformed")
      expect(parseKey(`${key.slice(0, at)}0${key.slice(at)}`).kind).toBe("malformed")
      const swapped = key.slice(0, at) + key.charAt(at + 1) + key.charAt(at) + key.slice(at + 2)
      if (swapped !== key) expect(parseKey(swapped).kind).not.toBe("well_formed")
    }),
  )
})

test("other prefixes, white space, other alphabets and the wrong case are malformed", () => {
  const key = generateKey("secret", random)
  for (const text of [
    "",
    " ",
    "svc_live_",
    ` ${key}`,
    `${key}\n`,
    key.toUpperCase(),
    key.replace("svc_live_", "svc_test_"),
    `svc_live_${"é".repeat(38)}`,
    `svc_live_${"-".repeat(38)}`,
    `svc_live_${"\uD83D\uDE00".repeat(19)}`,
    "x".repeat(10_000_000),
  ])
    expect(parseKey(text)).toEqual({ kind: "malformed" })
})

test("a key with the prefix of the other kind is detected", () => {
  const key = generateKey("secret", random).replace("svc_live_", "svc_pub_")
  expect(parseKey(key)).toEqual({ kind: "bad_checksum" })
})

test("no text makes parsing throw", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 60 }),
      text => parseKey(`svc_pub_${text}`).kind !== "well_formed",
    ),
  )
})

test("the hash is the SHA-256 in hex, and hashes are equal only when every character is", () => {
  const key = generateKey("secret", random)
  const hash = hashKey(key)
  expect(hash).toBe(createHash("sha256").update(key).digest("hex"))
  expect(isEqualHash(hash, hashKey(key))).toBe(true)
  expect(isEqualHash(hash, hashKey(`${key} `))).toBe(false)
  expect(isEqualHash(hash, hash.slice(1))).toBe(false)
})
