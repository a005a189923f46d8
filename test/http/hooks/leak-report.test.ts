import { expect, test } from "bun:test"
import fc from "fast-check"
import { isSignatureValid, signatureFromHeaders } from "../../../src/http/hooks/leak-report.ts"
import { parseKeySet } from "../../../src/http/hooks/reporter-keys.ts"
import { keysDocument, signer } from "../../support/leak-reporter.ts"

/** The sample of the programme's own description, with the key that it was signed by. */
const SAMPLE = {
  identifier: "bcb53661c06b4728e59d897fb6165d5c9cda0fd9cdf9d09ead458168deb7518c",
  signature: "MEQCIQDaMKqrGnE27S0kgMrEK0eYBmyG0LeZismAEz/BgZyt7AIfXt9fErtRS4XaeSt/AO1RtBY66YcAdjxji410VQV4xg==",
  body: '[{"source":"commit","token":"some_token","type":"some_type","url":"https://example.com/base-repo-url/"}]',
  key: "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEYAGMWO8XgCamYKMJS6jc/qgvSlAd\nAjPuDPRcXU22YxgBrz+zoN19MzuRyW87qEt9/AmtoNP5GrobzUvQSyJFVw==\n-----END PUBLIC KEY-----\n",
}

const headersOf = (identifier: string | null, signature: string | null): Headers =>
  new Headers({
    ...(identifier === null ? {} : { "github-public-key-identifier": identifier }),
    ...(signature === null ? {} : { "github-public-key-signature": signature }),
  })

const keyOf = (document: string, identifier: string) => {
  const key = parseKeySet(document)?.get(identifier)
  if (key === undefined) throw new Error(`no key ${identifier}`)
  return key
}

test("the published sample holds, and no longer when an octet of its body is another", () => {
  const { identifier, key, signature: text, body } = SAMPLE
  const document = JSON.stringify({ public_keys: [{ key_identifier: identifier, key, is_current: true }] })
  const signature = signatureFromHeaders(headersOf(identifier, text))
  expect(signature?.identifier).toBe(identifier)
  if (signature === null) return
  expect(isSignatureValid(Buffer.from(body), signature, keyOf(document, identifier))).toBe(true)
  expect(isSignatureValid(Buffer.from(`${body}\n`), signature, keyOf(document, identifier))).toBe(false)
  expect(
    isSignatureValid(Buffer.from(body.replace("some_token", "Some_token")), signature, keyOf(document, identifier)),
  ).toBe(false)
})

test("a signature needs both headers, and is padded base64 of at most 72 octets", () => {
  const base64 = (bytes: number): string => Buffer.alloc(bytes, 0x30).toString("base64")
  expect(signatureFromHeaders(headersOf("key", base64(72)))?.der).toHaveLength(72)
  expect(signatureFromHeaders(headersOf("key", base64(70)))?.der).toHaveLength(70)
  for (const headers of [
    ...[headersOf(null, null), headersOf(null, base64(70)), headersOf("key", null), headersOf("", base64(70))],
    ...["", "=", "====", "MEQ", "MEQ=MEQ=", "MEQ_", "MEQ-", "MEQC\tMEQC", `${base64(70)}, ${base64(70)}`].map(text =>
      headersOf("key", text),
    ),
    headersOf("key", base64(73)),
    headersOf("key", base64(100_000)),
  ])
    expect([headers.get("github-public-key-signature"), signatureFromHeaders(headers)]).toEqual([
      headers.get("github-public-key-signature"),
      null,
    ])
})

test("whatever octets stand for a signature, they are none, and nothing throws", () => {
  const own = signer("own")
  const key = keyOf(keysDocument(own), "own")
  const body = Buffer.from("[]")
  const text = own.headers(body)["Github-Public-Key-Signature"] ?? ""
  const der = Buffer.from(text, "base64")
  expect(isSignatureValid(body, { identifier: "own", der }, key)).toBe(true)
  const cases = [
    Buffer.alloc(0),
    der.subarray(0, -1),
    Buffer.concat([der, Buffer.from([0])]),
    // Both numbers are zero, which would hold for any body under a careless verifier.
    Buffer.from([0x30, 6, 2, 1, 0, 2, 1, 0]),
    // The two numbers as they stand, without DER (IEEE P1363).
    Buffer.alloc(64, 1),
  ]
  for (const wrong of cases) expect(isSignatureValid(body, { identifier: "own", der: wrong }, key)).toBe(false)
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 72 }),
      bytes => !isSignatureValid(body, { identifier: "own", der: bytes }, key),
    ),
  )
  fc.assert(
    fc.property(fc.nat(der.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
      const changed = Buffer.from(der)
      changed[at] = (der[at] ?? 0) ^ flip
      return !isSignatureValid(body, { identifier: "own", der: changed }, key)
    }),
  )
})
