import { expect, test } from "bun:test"
import { isAllowedRedirect, isAllowedSourceUrl } from "../../../src/check/fetch/download.ts"

test.each([
  "https://lists.example/list.txt",
  "https://10.0.0.1/",
  "http://127.0.0.1:8080/list.txt",
  "http://127.255.255.254/",
  "http://127.1/",
  "http://[::1]:8080/",
  "http://localhost/",
  "HTTP://LOCALHOST/",
])("%s is allowed", url => {
  expect(isAllowedSourceUrl(new URL(url))).toBe(true)
})

test.each([
  "http://lists.example/list.txt",
  "http://126.255.255.255/",
  "http://128.0.0.1/",
  "http://0.0.0.0/",
  "http://[::]/",
  "http://[::2]/",
  "http://[::ffff:127.0.0.1]/",
  "http://127.0.0.1.lists.example/",
  "http://localhost.lists.example/",
  "http://lists.localhost/",
  "http://notlocalhost/",
  "https://user@lists.example/",
  "https://:secret@lists.example/",
  "http://user:secret@127.0.0.1/",
  "ftp://127.0.0.1/",
  "file:///list.txt",
  "data:,a.example",
  "blob:https://lists.example/1",
])("%s is not allowed", url => {
  expect(isAllowedSourceUrl(new URL(url))).toBe(false)
})

test("a redirect may lead to an allowed URL, and to loopback only from loopback", () => {
  const [far, other, near] = ["https://lists.example/", "https://mirror.example/", "http://127.0.0.1/"]
  const leads = (from: string, to: string): boolean => isAllowedRedirect(new URL(from), new URL(to))
  expect(leads(far, other)).toBe(true)
  expect(leads(near, far)).toBe(true)
  expect(leads(near, "http://localhost/")).toBe(true)
  expect(leads(far, near)).toBe(false)
  expect(leads(far, "https://localhost/")).toBe(false)
  expect(leads(far, "http://mirror.example/")).toBe(false)
  expect(leads(near, "http://mirror.example/")).toBe(false)
})
