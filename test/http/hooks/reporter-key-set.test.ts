import { expect, test } from "bun:test"
import { generateKeyPairSync } from "node:crypto"
import fc from "fast-check"
import { readKeySet } from "../../../src/http/hooks/reporter-key-set.ts"
import { keysDocument, signer } from "../../world/leak-reporter.ts"

/** A key on the curve whose name is nearest, which the runtime makes none on. */
const SECP256K1 =
  "-----BEGIN PUBLIC KEY-----\nMFYwEAYHKoZIzj0CAQYFK4EEAAoDQgAEXkHt9dypywM2xbENwCyhx/fWXlO3R0Nl\n/E25Mmz0axMCEPNc71c0lPtQxsmAyxZSFx0F8gW4TL8B4o/NioOpyw==\n-----END PUBLIC KEY-----\n"

const current = signer("current")
const former = signer("former", "P-256", false)

const identifiersIn = (text: string): readonly string[] => [...(readKeySet(text)?.keys() ?? [])]

test("every key on P-256 that is published is read, be it current or not", () => {
  expect(identifiersIn(keysDocument(current, former))).toEqual(["current", "former"])
})

test("a key of another curve or kind, and what is no key, is left out and costs the others nothing", () => {
  const { publicKey } = generateKeyPairSync("ed25519")
  const entries: unknown[] = [
    signer("P-384", "P-384").published,
    signer("P-521", "P-521").published,
    { key_identifier: "secp256k1", key: SECP256K1 },
    { key_identifier: "ed25519", key: publicKey.export({ type: "spki", format: "pem" }) },
    { ...current.published, key: "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n" },
    { ...current.published, key: 1 },
    { ...current.published, key_identifier: "" },
    { ...current.published, key_identifier: null },
    null,
    "key",
    [],
    former.published,
  ]
  expect(identifiersIn(JSON.stringify({ public_keys: entries }))).toEqual(["former"])
})

test("a document without a key is none", () => {
  for (const text of [
    ...["", "nonsense", "null", "[]", "{}", '{"public_keys":null}', '{"public_keys":[]}', '{"public_keys":{}}'],
    "[".repeat(60_000),
    keysDocument(signer("other", "P-384")),
  ])
    expect(readKeySet(text)).toBeNull()
})

test("a hundred keys are read, and no more", () => {
  const entries = Array.from({ length: 101 }, (_, at) => ({ ...current.published, key_identifier: `key-${at}` }))
  expect(identifiersIn(JSON.stringify({ public_keys: entries }))).toHaveLength(100)
})

test("no document makes it throw", () => {
  fc.assert(fc.property(fc.json(), text => void readKeySet(text)))
  fc.assert(fc.property(fc.array(fc.anything()), entries => void readKeySet(JSON.stringify({ public_keys: entries }))))
})
