import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import fc from "fast-check"
import { generateKey, KEY_KINDS, redactKeys } from "../../../src/customers/keys/key-format.ts"
import { renderMailHtml, renderMailText } from "../../../src/customers/notices/mail-content.tsx"
import { NOTICES, type NoticeKind, noticeContent, storedNoticeContent } from "../../../src/customers/notices/notices.ts"
import { random } from "../temp-store.ts"
import { GOLDEN_NOTICES } from "./golden-notices.ts"

const PLACE = { baseUrl: "https://mk.example.com" }
const GOLDEN = join(import.meta.dir, "../../golden/notices")
const KINDS = Object.keys(NOTICES) as NoticeKind[] // the table's own

async function golden(name: string, made: string): Promise<string> {
  const file = Bun.file(join(GOLDEN, name))
  if (process.env["UPDATE_GOLDEN"] === "1") await Bun.write(file, made)
  return await file.text()
}

describe("every notice reads as it was reviewed", () => {
  for (const kind of KINDS)
    test(kind, async () => {
      const letter = noticeContent(GOLDEN_NOTICES[kind], PLACE)
      const text = `Subject: ${letter.subject}\n\n${renderMailText(letter)}`
      expect(text).toBe(await golden(`${kind}.txt`, text))
      const html = renderMailHtml(letter)
      expect(html).toBe(await golden(`${kind}.html`, html))
    })
})

test("there is a golden file for each notice and no other", async () => {
  const files = [...new Bun.Glob("*").scanSync(GOLDEN)].sort()
  expect(files).toEqual(KINDS.flatMap(kind => [`${kind}.html`, `${kind}.txt`]).sort())
})

test("what is stored comes back as the same letter", () => {
  for (const kind of KINDS) {
    const notice = GOLDEN_NOTICES[kind]
    expect(storedNoticeContent(kind, JSON.stringify(notice.params), PLACE)).toEqual(noticeContent(notice, PLACE))
  }
})

test("what another version stored is no letter", () => {
  for (const [kind, particulars] of [
    ["key_painted", "{}"],
    ["toString", "{}"],
    ["key_created", "{}"],
    ["key_created", "null"],
    ["key_created", "{"],
    ["key_created", JSON.stringify({ ...GOLDEN_NOTICES.key_created.params, last4: "aB3de" })],
    ["terms_change", JSON.stringify({ ...GOLDEN_NOTICES.terms_change.params, endsAtMs: "soon" })],
  ] as const)
    expect(storedNoticeContent(kind, particulars, PLACE)).toBeNull()
})

test("HTML holds what others wrote as text only, and loads nothing", () => {
  const name = `<script>alert(1)</script>"'><img src=x onerror=y>`
  const html = renderMailHtml(
    noticeContent({ kind: "key_created", params: { kind: "secret", name, last4: "1234", atMs: 0 } }, PLACE),
  )
  expect(html).not.toMatch(/<(?:script|img|link|iframe|table)|url\(|@import|src=x[^ ]*"/i)
  expect(html).toContain("&lt;script>")
})

test("text has lines of at most 78 characters, but for words that are longer", () => {
  const anyName = fc.string({ maxLength: 240, unit: "grapheme" }).filter(name => !/[\n\r]/.test(name))
  fc.assert(
    fc.property(anyName, name => {
      const text = renderMailText(
        noticeContent({ kind: "key_leaked", params: { kind: "secret", name, last4: "1234", atMs: 0 } }, PLACE),
      )
      for (const line of text.split("\n"))
        if (line.trim().split(" ").length > 2) expect(line.length).toBeLessThanOrEqual(78)
    }),
  )
})

describe("no notice contains a key", () => {
  const anyKey = fc
    .constantFrom("secret", "publishable")
    .map(kind => generateKey(kind as keyof typeof KEY_KINDS, random)) // one of both
  const around = fc.string({ maxLength: 10 })

  test("even when its name was made of one", () => {
    fc.assert(
      fc.property(around, anyKey, around, fc.integer({ min: 9, max: 47 }), (before, key, after, length) => {
        const written = redactKeys(`${before}${key.slice(0, length)}${after}`)
        const secret = key.slice(
          Object.values(KEY_KINDS).find(({ prefix }) => key.startsWith(prefix))?.prefix.length,
          length,
        )
        if (secret.length > 3) expect(written).not.toContain(secret)
        for (const kind of ["key_created", "key_revoked_by_owner", "key_revoked_by_admin", "key_leaked"] as const) {
          const letter = noticeContent(
            { kind, params: { kind: "secret", name: written, last4: "wxyz", atMs: 0 } },
            PLACE,
          )
          expect(`${letter.subject}${renderMailText(letter)}${renderMailHtml(letter)}`).not.toMatch(
            /svc_(?:live|pub)_[0-9A-Za-z]/,
          )
        }
      }),
    )
  })

  test("a name without one stays as it is", () => {
    for (const name of ["Billing", "svc_live_", "my svc key", "svc_other_ABC"]) expect(redactKeys(name)).toBe(name)
  })
})
